import {
  type AgentPresence,
  type BridgeToBrowserFrame,
  type BrowserFrame,
  decodeBrowserFrame,
  type FrameError,
  negotiateProtocol,
  PROTOCOL_RANGE,
} from '@stint/contracts';
import { WebSocket } from 'ws';
import { CLOSE } from './agent-peer.js';
import { type AttachFrame, Attachment } from './attachment.js';
import { awaitHello, endSocket, watchLiveness } from './liveness.js';
import { frameBytes, textOf } from './frame-coding.js';
import { type OutConnection, Outbox } from './outbox.js';
import type { Reply } from './pending-requests.js';

export type BrowserRequest = Extract<BrowserFrame, { type: 'request' }>;

/** A browser's socket and the connection it was upgraded from. */
export interface BrowserSocket {
  readonly socket: WebSocket;
  readonly connection: OutConnection;
}

/** Who sits at the browser, from the authenticated upgrade; never from a frame. */
export interface BrowserUser {
  readonly id: string;
  readonly name: string;
  /** Names the session it came with, to end its sockets at sign-out. */
  readonly sessionKey: string;
}

export interface BrowserListener {
  onRequest(browser: BrowserPeer, request: BrowserRequest): void;
  onAttach(browser: BrowserPeer, frame: AttachFrame): void;
  onClose(browser: BrowserPeer): void;
  onProblem(browser: BrowserPeer, problem: string): void;
}

export interface BrowserPeerOptions {
  readonly heartbeatMs: number;
  readonly helloTimeoutMs: number;
  readonly maxBufferedBytes: number;
  readonly bridgeVersion: string;
  readonly now: () => number;
  readonly agents: () => AgentPresence[];
}

/**
 * One browser's socket.
 *
 * States: connected -> introduced -> closed. Nothing but `hello` counts before it is introduced. What it is sent is bounded by its outbox; a frame that cannot be read is answered if it was a request and ends this
 * socket, and this one only, if not.
 */
export class BrowserPeer {
  readonly user: BrowserUser;
  readonly attachment = new Attachment();
  readonly #socket: WebSocket;
  readonly #listener: BrowserListener;
  readonly #options: BrowserPeerOptions;
  readonly #outbox: Outbox;
  readonly #waiting = new Set<string>();
  #isIntroduced = false;

  constructor(
    { socket, connection }: BrowserSocket,
    user: BrowserUser,
    listener: BrowserListener,
    options: BrowserPeerOptions,
  ) {
    this.#socket = socket;
    this.user = user;
    this.#listener = listener;
    this.#options = options;
    this.#outbox = new Outbox({ socket, connection }, options.maxBufferedBytes, {
      onCaughtUp: (itemIds) =>
        itemIds.forEach((itemId) => this.send({ type: 'resync', itemId, reason: 'slow_reader' })),
      onOverflow: () => this.close(CLOSE.tooSlow, 'replies are not read'),
    });
    const stopWatching = watchLiveness(socket, options.heartbeatMs, () =>
      this.#outbox.sendProgress(frameBytes({ type: 'heartbeat', at: options.now() }), 'heartbeat'),
    );
    const stopWaiting = awaitHello(options.helloTimeoutMs, () => {
      if (!this.#isIntroduced) this.close(CLOSE.protocol, 'no hello');
    });
    socket.on('message', (data, isBinary) => this.#receive(textOf(data, isBinary)));
    socket.on('error', (error) => listener.onProblem(this, error.message));
    socket.on('close', () => {
      stopWaiting();
      stopWatching();
      listener.onClose(this);
    });
  }

  get isIntroduced(): boolean {
    return this.#isIntroduced;
  }

  /** Bytes that wait for this browser now. */
  get waitingBytes(): number {
    return this.#outbox.waitingBytes;
  }

  /** Requests that wait for their answer. */
  get waitingCount(): number {
    return this.#waiting.size;
  }

  /** Notes that a request waits. @returns false when one with this id does already. */
  beginRequest(id: string): boolean {
    if (this.#waiting.has(id)) return false;
    this.#waiting.add(id);
    return true;
  }

  /** Answers the request with the id this browser gave it. */
  reply(id: string, reply: Reply): void {
    this.#waiting.delete(id);
    this.send({ type: 'response', id, ...reply });
  }

  /** A frame that must arrive. */
  send(frame: BridgeToBrowserFrame): void {
    this.#outbox.sendReply(frameBytes(frame));
  }

  /** An event already encoded: it is the same bytes for every browser. */
  sendEvent(bytes: Buffer, itemId: string): void {
    this.#outbox.sendEvent(bytes, itemId);
  }

  sendProgress(bytes: Buffer, key: string): void {
    this.#outbox.sendProgress(bytes, key);
  }

  close(code: number, reason: string): void {
    endSocket(this.#socket, code, reason);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #receive(text: string): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    const decoded = decodeBrowserFrame(text);
    if (decoded.ok) this.#take(decoded.frame);
    else this.#refuse(decoded.error);
  }

  #take(frame: BrowserFrame): void {
    if (frame.type === 'hello') this.#greet(frame);
    else if (!this.#isIntroduced) this.close(CLOSE.protocol, 'hello comes first');
    else if (frame.type === 'request') this.#listener.onRequest(this, frame);
    else if (frame.type === 'attach') this.#listener.onAttach(this, frame);
  }

  #greet({ protocol }: Extract<BrowserFrame, { type: 'hello' }>): void {
    const version = negotiateProtocol(PROTOCOL_RANGE, protocol);
    if (version === null) {
      this.close(CLOSE.protocol, `this bridge speaks ${PROTOCOL_RANGE.min} to ${PROTOCOL_RANGE.max}`);
      return;
    }
    this.#isIntroduced = true;
    const { bridgeVersion, heartbeatMs, agents } = this.#options;
    const { id, name } = this.user;
    this.send({ type: 'hello', protocol: version, bridgeVersion, user: { id, name }, agents: agents(), heartbeatMs });
  }

  #refuse(error: FrameError): void {
    this.#listener.onProblem(this, error.code);
    if (error.requestId === null) {
      this.close(CLOSE.badFrame, error.code);
      return;
    }
    const code = error.code === 'invalid_frame' ? 'invalid_request' : error.code;
    this.send({
      type: 'response',
      id: error.requestId,
      ok: false,
      error: { code, message: error.message, retryable: false },
    });
  }
}
