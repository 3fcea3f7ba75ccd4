import {
  type AgentPresence,
  describeIssues,
  type Event,
  eventPageSchema,
  isOperationName,
  operations,
  type Progress,
  type WireError,
} from '@stint/contracts';
import { type AgentListener, type AgentPeer, CLOSE } from './agent-peer.js';
import type { AttachFrame } from './attachment.js';
import type { BrowserListener, BrowserPeer, BrowserRequest } from './browser-peer.js';
import { frameBytes } from './frame-coding.js';
import type { LogEntry } from './options.js';
import { PendingRequests, type Reply } from './pending-requests.js';

export interface RelayOptions {
  readonly requestTimeoutMs: number;
  readonly maxPendingRequests: number;
  readonly log: (entry: LogEntry) => void;
}

/** Who is connected and what waits at this moment. */
export type RelayCounts = Readonly<Record<'browsers' | 'agents' | 'pendingRequests' | 'waitingBytes', number>>;

/**
 * Joins browsers and agents. It holds who is connected and what waits for an answer, and no work data.
 *
 * 1. Only operations of the allow-list pass, with an input that matches their schema; who asks is stamped here.
 * 2. A reply goes to the browser that asked and to no other.
 * 3. An event goes to the sockets attached to its item or to the board, and to no other.
 * 4. An agent that is not connected is shown as offline; nothing is answered in its place.
 */
export class Relay implements BrowserListener, AgentListener {
  readonly #options: RelayOptions;
  readonly #pending: PendingRequests;
  readonly #browsers = new Set<BrowserPeer>();
  readonly #online = new Map<string, AgentPeer>();
  readonly #offline = new Map<string, AgentPresence>();

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#pending = new PendingRequests(options.requestTimeoutMs);
  }

  /** Figures for the health endpoint. */
  get counts(): RelayCounts {
    const waitingBytes = [...this.#browsers].reduce((sum, browser) => sum + browser.waitingBytes, 0);
    return {
      browsers: this.#browsers.size,
      agents: this.#online.size,
      pendingRequests: this.#pending.size,
      waitingBytes,
    };
  }

  agents(): AgentPresence[] {
    return [...[...this.#online.values()].map((agent) => agent.presence(true)), ...this.#offline.values()];
  }

  addBrowser(browser: BrowserPeer): void {
    this.#browsers.add(browser);
    this.#options.log({ level: 'info', event: 'browser.connected', browsers: this.#browsers.size });
  }

  /** Ends the sockets that came with a session. */
  signOut(sessionKey: string): void {
    for (const browser of this.#browsers) {
      if (browser.user.sessionKey === sessionKey) browser.close(CLOSE.signedOut, 'signed out');
    }
  }

  // Browsers

  onRequest(browser: BrowserPeer, request: BrowserRequest): void {
    if (!browser.beginRequest(request.id)) {
      this.#warn(browser, 'duplicate_id');
      return;
    }
    const answer = (reply: Reply): void => browser.reply(request.id, reply);
    const error = this.#forward(browser, request, answer);
    if (error !== null) answer({ ok: false, error });
  }

  onAttach(browser: BrowserPeer, frame: AttachFrame): void {
    if (!browser.attachment.replace(frame)) return;
    const replays = frame.items.flatMap(({ itemId, since, storeId }) =>
      since === null ? [] : [this.#replay(browser, { itemId, since, storeId, generation: frame.generation })],
    );
    void Promise.all(replays).then(() => {
      if (browser.attachment.stands(frame.generation)) browser.send({ type: 'attached', generation: frame.generation });
    });
  }

  onClose(peer: BrowserPeer | AgentPeer): void {
    if ('user' in peer) this.#removeBrowser(peer);
    else this.#removeAgent(peer);
  }

  onProblem(peer: BrowserPeer | AgentPeer, problem: string): void {
    const event = 'user' in peer ? 'browser.problem' : 'agent.problem';
    this.#options.log({ level: 'warn', event, problem: problem.slice(0, 500) });
  }

  // Agents

  onHello(agent: AgentPeer): void {
    const before = this.#online.get(agent.id);
    const isReturning = before !== undefined || this.#offline.has(agent.id);
    this.#online.set(agent.id, agent);
    this.#offline.delete(agent.id);
    before?.close(CLOSE.replaced, 'the same agent connected again');
    if (before !== undefined) this.#pending.loseAgent(agent.id);
    this.#options.log({ level: 'info', event: 'agent.connected', agent: agent.id });
    this.#announce();
    if (isReturning) this.#tellAll({ type: 'resync', itemId: null, reason: 'agent_returned' });
  }

  onResponse(agent: AgentPeer, response: Parameters<AgentListener['onResponse']>[1]): void {
    if (this.#pending.settle(agent.id, response)) return;
    this.#options.log({ level: 'warn', event: 'agent.late_answer', agent: agent.id });
  }

  onEvent(_agent: AgentPeer, event: Event): void {
    const bytes = frameBytes({ type: 'event', event });
    for (const browser of this.#browsers) {
      if (!browser.attachment.hears(event.itemId) || browser.attachment.hold(event, bytes)) continue;
      browser.sendEvent(bytes, event.itemId);
    }
  }

  onProgress(_agent: AgentPeer, progress: Progress): void {
    const bytes = frameBytes({ type: 'progress', progress });
    const key = JSON.stringify([progress.itemId, progress.actionId]);
    for (const browser of this.#browsers) {
      if (browser.attachment.watches(progress.itemId)) browser.sendProgress(bytes, key);
    }
  }

  /** Says goodbye to all; whoever does not go is cut off by `terminateAll`. */
  closeAll(): void {
    for (const peer of [...this.#browsers, ...this.#online.values()]) peer.close(CLOSE.goingAway, 'the bridge ends');
  }

  terminateAll(): void {
    for (const peer of [...this.#browsers, ...this.#online.values()]) peer.terminate();
  }

  #forward(browser: BrowserPeer, request: BrowserRequest, answer: (reply: Reply) => void): WireError | null {
    const { operation } = request;
    if (!isOperationName(operation)) {
      return { code: 'unknown_operation', message: 'This operation is not in the list.', retryable: false };
    }
    if (browser.waitingCount > this.#options.maxPendingRequests) {
      const message = `More than ${this.#options.maxPendingRequests} requests wait for an answer. Wait for one.`;
      return { code: 'too_many_requests', message, retryable: true };
    }
    const input = operations[operation].input.safeParse(request.input);
    if (!input.success) {
      const message = `The input of ${operation} is not valid: ${describeIssues(input.error)}`;
      return { code: 'invalid_input', message, retryable: false };
    }
    const agent = this.#route(request.agentId);
    if (!('send' in agent)) return agent;
    if (operations[operation].role === 'command') this.#audit(browser, operation, input.data);
    return this.#ask(agent, browser, { operation, input: input.data }, answer);
  }

  #route(agentId: string | undefined): AgentPeer | WireError {
    if (agentId !== undefined) return this.#online.get(agentId) ?? offline();
    const [only, another] = this.#online.values();
    if (another !== undefined) {
      return {
        code: 'agent_ambiguous',
        message: 'Several agents are connected. Name one in agentId.',
        retryable: false,
      };
    }
    return only ?? offline();
  }

  #ask(
    agent: AgentPeer,
    browser: BrowserPeer,
    { operation, input }: { readonly operation: string; readonly input: unknown },
    answer: (reply: Reply) => void,
  ): WireError | null {
    const { id: userId, name } = browser.user;
    const id = this.#pending.open(agent.id, operation, answer);
    const isSent = agent.send({ type: 'request', id, operation, input, user: { id: userId, name } });
    if (isSent) return null;
    const error = {
      code: 'agent_busy',
      message: 'The agent does not keep up. Try again in a moment.',
      retryable: true,
    };
    this.#pending.settle(agent.id, { type: 'response', id, ok: false, error });
    return null;
  }

  /** Sends what the item missed since `since`, then what happened meanwhile; or says to read it again. */
  async #replay(browser: BrowserPeer, from: ReplayFrom): Promise<void> {
    const agent = this.#route(undefined);
    if (!('send' in agent)) return; // offline: when it returns, everything is read again
    const resync = (reason: 'store_changed' | 'too_far_behind'): void => {
      if (browser.attachment.stands(from.generation)) browser.send({ type: 'resync', itemId: from.itemId, reason });
    };
    if (from.storeId !== agent.storeId) return resync('store_changed');
    browser.attachment.beginReplay(from.itemId);
    const input = { itemId: from.itemId, since: from.since };
    const reply = await new Promise<Reply>((answer) => {
      this.#ask(agent, browser, { operation: 'read_events', input }, answer);
    });
    const page = eventPageSchema.safeParse(reply.ok ? reply.result : null);
    const events = page.success && !page.data.resync ? page.data.events : null;
    const lastSeq = events?.at(-1)?.seq ?? from.since;
    const held = browser.attachment.endReplay(from.itemId, from.generation, lastSeq);
    if (events === null || held === null) return resync('too_far_behind');
    for (const event of events) browser.sendEvent(frameBytes({ type: 'event', event }), from.itemId);
    for (const bytes of held) browser.sendEvent(bytes, from.itemId);
  }

  #removeBrowser(browser: BrowserPeer): void {
    this.#browsers.delete(browser);
    this.#options.log({ level: 'info', event: 'browser.left', browsers: this.#browsers.size });
  }

  #removeAgent(agent: AgentPeer): void {
    if (this.#online.get(agent.id) !== agent) return;
    this.#online.delete(agent.id);
    this.#offline.set(agent.id, agent.presence(false));
    this.#pending.loseAgent(agent.id);
    this.#options.log({ level: 'warn', event: 'agent.left', agent: agent.id });
    this.#announce();
  }

  /** A browser that is behind needs only the newest list. */
  #announce(): void {
    const bytes = frameBytes({ type: 'presence', agents: this.agents() });
    for (const browser of this.#browsers) if (browser.isIntroduced) browser.sendProgress(bytes, 'presence');
  }

  #tellAll(frame: Parameters<BrowserPeer['send']>[0]): void {
    for (const browser of this.#browsers) if (browser.isIntroduced) browser.send(frame);
  }

  /** Who did what, to which item. What the person wrote is not in it. */
  #audit(browser: BrowserPeer, operation: string, input: object): void {
    const itemId = 'itemId' in input && typeof input.itemId === 'string' ? input.itemId : null;
    this.#options.log({ level: 'info', event: 'command.relayed', user: browser.user.id, operation, itemId });
  }

  #warn(browser: BrowserPeer, problem: string): void {
    this.onProblem(browser, problem);
  }
}

interface ReplayFrom {
  readonly itemId: string;
  readonly since: number;
  readonly storeId: string | undefined;
  readonly generation: number;
}

function offline(): WireError {
  return { code: 'agent_offline', message: 'The agent is not connected. Start it, then try again.', retryable: true };
}
