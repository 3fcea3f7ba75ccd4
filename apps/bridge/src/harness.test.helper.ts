import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type AgentFrame,
  type AgentRequest,
  type BridgeToBrowserFrame,
  type BrowserFrame,
  decodeBridgeToAgentFrame,
  decodeBridgeToBrowserFrame,
  encodeFrame,
  type Event,
  PROTOCOL_RANGE,
} from '@stint/contracts';
import { WebSocket } from 'ws';
import { type Bridge, startBridge } from './bridge.js';
import type { BridgeOptions, LogEntry } from './options.js';

export const AGENT_TOKEN = `made-up-agent-token-${Math.random().toString(36).slice(2)}`;
export const STORE_ID = 'store-1';

export interface TestBridge extends Bridge {
  readonly host: string;
  readonly logs: LogEntry[];
  /** Signs in and answers the cookie to send. */
  signIn(): Promise<string>;
  health(): Promise<Record<string, number>>;
}

const cleanUps: (() => Promise<void> | void)[] = [];

/** Ends what a test started; call in `afterEach`. */
export async function cleanUp(): Promise<void> {
  for (const one of cleanUps.splice(0).toReversed()) await one();
}

export function makePage(): string {
  const directory = mkdtempSync(join(tmpdir(), 'stint-page-'));
  cleanUps.push(() => rmSync(directory, { recursive: true, force: true }));
  mkdirSync(join(directory, 'assets'));
  writeFileSync(join(directory, 'index.html'), '<!doctype html><title>Stint</title>');
  writeFileSync(join(directory, 'assets', 'index-abc.js'), 'export {};');
  return directory;
}

export async function startTestBridge(over: Partial<BridgeOptions> = {}): Promise<TestBridge> {
  const logs: LogEntry[] = [];
  const bridge = await startBridge({
    port: 0,
    agentToken: AGENT_TOKEN,
    pageDirectory: makePage(),
    log: (entry) => logs.push(entry),
    ...over,
  });
  cleanUps.push(() => bridge.close());
  const { host } = new URL(bridge.url);
  const signIn = async (): Promise<string> => {
    const answer = await postTicket(bridge.url, bridge.ticketUrl());
    return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
  };
  const health = async (): Promise<Record<string, number>> =>
    (await (await fetch(new URL('/health', bridge.url))).json()) as Record<string, number>;
  return { ...bridge, host, logs, signIn, health };
}

export async function postTicket(url: string, ticketUrl: string): Promise<Response> {
  const { origin } = new URL(url);
  return fetch(new URL('/session', url), {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json' },
    body: JSON.stringify({ ticket: new URLSearchParams(new URL(ticketUrl).hash.slice(1)).get('ticket') }),
  });
}

/** Frames as they come; `next` waits for the first one that fits and takes it out. */
class Inbox<F> {
  readonly frames: F[] = [];
  #wakers: (() => void)[] = [];

  push(frame: F): void {
    this.frames.push(frame);
    for (const wake of this.#wakers.splice(0)) wake();
  }

  async next<T extends F>(fits: (frame: F) => frame is T): Promise<T>;
  async next(fits: (frame: F) => boolean): Promise<F>;
  async next(fits: (frame: F) => boolean): Promise<F> {
    for (;;) {
      const index = this.frames.findIndex(fits);
      const [frame] = index < 0 ? [] : this.frames.splice(index, 1);
      if (frame !== undefined) return frame;
      await new Promise<void>((resolve) => {
        this.#wakers.push(resolve);
      });
    }
  }
}

type Of<F, T> = Extract<F, { type: T }>;

export class TestBrowser {
  readonly inbox = new Inbox<BridgeToBrowserFrame>();
  readonly closed: Promise<number>;
  constructor(readonly socket: WebSocket) {
    this.closed = new Promise((resolve) => socket.on('close', resolve));
    socket.on('message', (data) => {
      const decoded = decodeBridgeToBrowserFrame((data as Buffer).toString());
      if (decoded.ok) this.inbox.push(decoded.frame);
      else throw new Error(`The bridge sent a bad frame: ${decoded.error.message}`);
    });
  }

  send(frame: BrowserFrame): void {
    this.socket.send(encodeFrame(frame));
  }

  async next<T extends BridgeToBrowserFrame['type']>(type: T): Promise<Of<BridgeToBrowserFrame, T>> {
    return this.inbox.next((frame): frame is Of<BridgeToBrowserFrame, T> => frame.type === type);
  }

  async ask(operation: string, input: unknown, id = Math.random().toString(36).slice(2)) {
    this.send({ type: 'request', id, operation, input });
    return this.inbox.next(
      (frame): frame is Of<BridgeToBrowserFrame, 'response'> => frame.type === 'response' && frame.id === id,
    );
  }

  async attach(generation: number, over: Partial<Of<BrowserFrame, 'attach'>> = {}): Promise<void> {
    this.send({ type: 'attach', generation, board: false, items: [], ...over });
    await this.inbox.next((frame) => frame.type === 'attached' && frame.generation === generation);
  }
}

export async function openBrowser(bridge: TestBridge, cookie?: string): Promise<TestBrowser> {
  const headers = { cookie: cookie ?? (await bridge.signIn()), origin: `http://${bridge.host}` };
  const socket = new WebSocket(`ws://${bridge.host}/ws`, { headers });
  cleanUps.push(() => socket.terminate());
  const browser = new TestBrowser(socket);
  await once(socket, 'open');
  browser.send({ type: 'hello', protocol: { ...PROTOCOL_RANGE }, client: 'test' });
  return browser;
}

/** An agent that answers what the test tells it to. */
export class TestAgent {
  readonly requests = new Inbox<AgentRequest>();
  readonly closed: Promise<number>;
  onRequest: (request: AgentRequest) => void = (request) => this.requests.push(request);
  constructor(readonly socket: WebSocket) {
    this.closed = new Promise((resolve) => socket.on('close', resolve));
    socket.on('message', (data) => {
      const decoded = decodeBridgeToAgentFrame((data as Buffer).toString());
      if (!decoded.ok) throw new Error(`The bridge sent a bad frame: ${decoded.error.message}`);
      if (decoded.frame.type === 'request') this.onRequest(decoded.frame);
    });
  }

  send(frame: AgentFrame): void {
    this.socket.send(encodeFrame(frame));
  }

  answer(id: string, result: unknown): void {
    this.send({ type: 'response', id, ok: true, result });
  }

  event(itemId: string, seq: number, text = ''): void {
    this.send({ type: 'event', event: makeEvent(itemId, seq, text) });
  }
}

export async function openAgent(bridge: TestBridge, id = 'agent-1', storeId = STORE_ID): Promise<TestAgent> {
  const socket = new WebSocket(bridge.agentUrl, { headers: { authorization: `Bearer ${AGENT_TOKEN}` } });
  cleanUps.push(() => socket.terminate());
  const agent = new TestAgent(socket);
  const greeted = new Promise((resolve) => socket.once('message', resolve));
  await once(socket, 'open');
  agent.send({ type: 'hello', protocol: { ...PROTOCOL_RANGE }, agent: { id, name: id, version: '0' }, storeId });
  await greeted;
  return agent;
}

export function makeEvent(itemId: string, seq: number, text = ''): Event {
  return {
    storeId: STORE_ID,
    itemId,
    seq,
    at: 1,
    type: 'test.happened',
    actionId: null,
    runId: null,
    text,
    summary: null,
  };
}

/** Status of an upgrade that is refused, or 101. */
export async function upgradeStatus(
  bridge: TestBridge,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  const socket = new WebSocket(`ws://${bridge.host}${path}`, { headers });
  return new Promise((resolve) => {
    socket.on('error', () => undefined);
    socket.on('unexpected-response', (_request, response) => {
      resolve(response.statusCode ?? 0);
      socket.terminate();
    });
    socket.on('open', () => {
      resolve(101);
      socket.terminate();
    });
  });
}
