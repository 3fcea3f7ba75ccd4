import {
  type AgentFrame,
  type AgentPresence,
  type AgentRequest,
  decodeAgentFrame,
  encodeFrame,
  type Event,
  negotiateProtocol,
  type Progress,
  PROTOCOL_RANGE,
  type ResponseFrame,
  utf8Length,
} from '@stint/contracts';
import { WebSocket } from 'ws';
import { textOf } from './frame-coding.js';
import { awaitHello, endSocket, watchLiveness } from './liveness.js';

export interface AgentListener {
  onHello(agent: AgentPeer): void;
  onResponse(agent: AgentPeer, response: ResponseFrame): void;
  onEvent(agent: AgentPeer, event: Event): void;
  onProgress(agent: AgentPeer, progress: Progress): void;
  onClose(agent: AgentPeer): void;
  onProblem(agent: AgentPeer, problem: string): void;
}

export interface AgentPeerOptions {
  readonly heartbeatMs: number;
  readonly helloTimeoutMs: number;
  readonly maxBufferedBytes: number;
  readonly now: () => number;
}

/** Close codes an agent or browser may see. */
export const CLOSE = Object.freeze({
  goingAway: 1001,
  badFrame: 1008,
  tooSlow: 1013,
  protocol: 4000,
  replaced: 4001,
  signedOut: 4002,
});

/**
 * One agent's socket.
 *
 * States: connected -> introduced -> closed. Nothing but `hello` counts before it is introduced; a second hello ends the socket.
 */
export class AgentPeer {
  readonly #socket: WebSocket;
  readonly #listener: AgentListener;
  readonly #options: AgentPeerOptions;
  #identity: { readonly id: string; readonly name: string; readonly storeId: string } | null = null;
  #heardAt: number;

  constructor(socket: WebSocket, listener: AgentListener, options: AgentPeerOptions) {
    this.#socket = socket;
    this.#listener = listener;
    this.#options = options;
    this.#heardAt = options.now();
    const stopWatching = watchLiveness(socket, options.heartbeatMs, () =>
      this.#write(encodeFrame({ type: 'heartbeat', at: options.now() })),
    );
    const stopWaiting = awaitHello(options.helloTimeoutMs, () => {
      if (this.#identity === null) this.close(CLOSE.protocol, 'no hello');
    });
    socket.on('message', (data, isBinary) => this.#receive(textOf(data, isBinary)));
    socket.on('error', (error) => listener.onProblem(this, error.message));
    socket.on('close', () => {
      stopWaiting();
      stopWatching();
      listener.onClose(this);
    });
  }

  /** Empty until it has introduced itself. */
  get id(): string {
    return this.#identity?.id ?? '';
  }

  get storeId(): string {
    return this.#identity?.storeId ?? '';
  }

  presence(online: boolean): AgentPresence {
    const { id, name, storeId } = this.#identity ?? { id: '', name: '', storeId: '' };
    return { id, name, online, storeId, seenAt: this.#heardAt };
  }

  /** @returns false when the agent is too slow to take it: nothing was sent. */
  send(request: AgentRequest): boolean {
    return this.#write(encodeFrame(request));
  }

  close(code: number, reason: string): void {
    endSocket(this.#socket, code, reason);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #write(text: string): boolean {
    if (this.#socket.readyState !== WebSocket.OPEN) return false;
    if (this.#socket.bufferedAmount + utf8Length(text) > this.#options.maxBufferedBytes) return false;
    this.#socket.send(text);
    return true;
  }

  #receive(text: string): void {
    this.#heardAt = this.#options.now();
    const decoded = decodeAgentFrame(text);
    if (decoded.ok) this.#take(decoded.frame);
    else this.#listener.onProblem(this, `${decoded.error.code}: ${decoded.error.message}`);
  }

  #take(frame: AgentFrame): void {
    if (frame.type === 'hello') this.#greet(frame);
    else if (this.#identity === null) this.close(CLOSE.protocol, 'hello comes first');
    else if (frame.type === 'response') this.#listener.onResponse(this, frame);
    else if (frame.type === 'event') this.#listener.onEvent(this, frame.event);
    else if (frame.type === 'progress') this.#listener.onProgress(this, frame.progress);
  }

  #greet({ protocol, agent, storeId }: Extract<AgentFrame, { type: 'hello' }>): void {
    const version = negotiateProtocol(PROTOCOL_RANGE, protocol);
    if (this.#identity !== null) this.close(CLOSE.protocol, 'hello comes once');
    else if (version === null)
      this.close(CLOSE.protocol, `this bridge speaks ${PROTOCOL_RANGE.min} to ${PROTOCOL_RANGE.max}`);
    else {
      this.#identity = { id: agent.id, name: agent.name, storeId };
      this.#write(encodeFrame({ type: 'hello', protocol: version, heartbeatMs: this.#options.heartbeatMs }));
      this.#listener.onHello(this);
    }
  }
}
