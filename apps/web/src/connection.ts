import {
  type BridgeToBrowserFrame,
  type BrowserFrame,
  decodeBridgeToBrowserFrame,
  encodeFrame,
  type OperationInput,
  type OperationName,
  type OperationOutput,
  operations,
  PROTOCOL_RANGE,
  type ResponseFrame,
} from '@stint/contracts';

/**
 * The one socket to the bridge.
 *
 * States: connecting -> online -> lost -> connecting ...; refused is final until the page is opened anew.
 * 1. What was asked and not answered is asked again after a reconnect, in order, if that is safe: queries, and commands with a message id of their own.
 *    Of any other command nobody can know whether it was carried out; it is answered so, and what is true now is read.
 * 2. Silence for two heartbeats is a lost connection, also when the socket does not say so.
 * 3. A frame that does not match its schema is dropped and reported, never half used.
 */
export type ConnectionState = 'connecting' | 'online' | 'lost' | 'refused';

/** An answer that says no. `retryable` = the same request may succeed later. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly code: string;
  readonly retryable: boolean;
  constructor(code: string, message: string, retryable: boolean) {
    super(message);
    this.code = code;
    this.retryable = retryable;
  }
}

/** What the connection needs of the browser; passed in, so that it runs without one. */
export interface ConnectionPort {
  open(listener: SocketListener): Socket;
  /** True if the browser holds a session the bridge accepts; rejects when the bridge cannot be reached. */
  signedIn(): Promise<boolean>;
  setTimer(callback: () => void, delayMs: number): () => void;
  now(): number;
}

export interface Socket {
  send(text: string): void;
  close(): void;
}

export interface SocketListener {
  readonly onOpen: () => void;
  readonly onText: (text: string) => void;
  readonly onClose: () => void;
}

export interface ConnectionListener {
  onState(state: ConnectionState): void;
  onFrame(frame: Exclude<BridgeToBrowserFrame, ResponseFrame>): void;
  onUnreadable(message: string): void;
}

interface Pending {
  readonly frame: BrowserFrame;
  /** True if asking again changes nothing more. */
  readonly repeatable: boolean;
  readonly settle: (response: ResponseFrame) => void;
  readonly reject: (error: RequestError) => void;
}

const firstRetryMs = 250;
const longestRetryMs = 5_000;

export class Connection {
  readonly #port: ConnectionPort;
  readonly #listener: ConnectionListener;
  readonly #pending = new Map<string, Pending>();
  #socket: Socket | null = null;
  #ready = false;
  #attach: BrowserFrame | null = null;
  #nextId = 1;
  #retryMs = firstRetryMs;
  #heartbeatMs = 15_000;
  #stopWatch: () => void = () => undefined;
  #closed = false;

  constructor(port: ConnectionPort, listener: ConnectionListener) {
    this.#port = port;
    this.#listener = listener;
    this.#connect();
  }

  /** Asks the agent; rejects with `RequestError` when the answer is no or does not match the contract. */
  async request<N extends OperationName>(operation: N, input: OperationInput<N>): Promise<OperationOutput<N>> {
    const id = `r${this.#nextId++}`;
    const frame: BrowserFrame = { type: 'request', id, operation, input };
    const response = await new Promise<ResponseFrame>((settle, reject) => {
      this.#pending.set(id, { frame, repeatable: isRepeatable(operation, input), settle, reject });
      this.#send(frame);
    });
    if (!response.ok) throw new RequestError(response.error.code, response.error.message, response.error.retryable);
    const parsed = operations[operation].output.safeParse(response.result);
    if (!parsed.success)
      throw new RequestError('invalid_answer', `The answer to ${operation} does not match the contract.`, false);
    return parsed.data as unknown as OperationOutput<N>; // the schema of this very operation has just accepted it
  }

  /** Says what this page wants to hear of; repeated after each reconnect with the newest frame. */
  attach(frame: BrowserFrame): void {
    this.#attach = frame;
    this.#send(frame);
  }

  /** Ends the connection for good; what is not answered is rejected with `connection_closed`. */
  close(): void {
    this.#closed = true;
    this.#stopWatch();
    this.#socket?.close();
    for (const { reject } of this.#pending.values())
      reject(new RequestError('connection_closed', 'The page was closed.', true));
    this.#pending.clear();
  }

  #connect(): void {
    this.#listener.onState('connecting');
    const socket: Socket = this.#port.open({
      onOpen: () => socket.send(encodeFrame({ type: 'hello', protocol: { ...PROTOCOL_RANGE }, client: 'page' })),
      onText: (text) => this.#receive(socket, text),
      onClose: () => this.#lose(socket),
    });
    this.#socket = socket;
    this.#watch(socket);
  }

  #receive(socket: Socket, text: string): void {
    if (socket !== this.#socket) return;
    this.#watch(socket);
    const decoded = decodeBridgeToBrowserFrame(text);
    if (!decoded.ok) {
      if (decoded.error.code !== 'unknown_frame') this.#listener.onUnreadable(decoded.error.message);
      return;
    }
    const { frame } = decoded;
    if (frame.type === 'response') {
      this.#pending.get(frame.id)?.settle(frame);
      this.#pending.delete(frame.id);
      return;
    }
    if (frame.type === 'hello') this.#welcome(socket, frame.heartbeatMs);
    if (frame.type === 'heartbeat') this.#send({ type: 'heartbeat', at: this.#port.now() });
    this.#listener.onFrame(frame);
  }

  #welcome(socket: Socket, heartbeatMs: number): void {
    this.#heartbeatMs = heartbeatMs;
    this.#watch(socket);
    this.#retryMs = firstRetryMs;
    this.#ready = true;
    this.#listener.onState('online');
    if (this.#attach) this.#send(this.#attach);
    for (const { frame } of this.#pending.values()) this.#send(frame);
  }

  /** Silence for two heartbeats ends the socket; `onclose` may take minutes to come by itself. */
  #watch(socket: Socket): void {
    this.#stopWatch();
    this.#stopWatch = this.#port.setTimer(() => {
      socket.close();
      this.#lose(socket);
    }, this.#heartbeatMs * 2);
  }

  #lose(socket: Socket): void {
    if (socket !== this.#socket || this.#closed) return;
    this.#socket = null;
    this.#ready = false;
    this.#stopWatch();
    this.#listener.onState('lost');
    this.#giveUpCommands();
    const delayMs = this.#retryMs;
    this.#retryMs = Math.min(this.#retryMs * 2, longestRetryMs);
    this.#stopWatch = this.#port.setTimer(() => void this.#reconnect(), delayMs);
  }

  #giveUpCommands(): void {
    for (const [id, { repeatable, reject }] of this.#pending) {
      if (repeatable) continue;
      this.#pending.delete(id);
      reject(
        new RequestError(
          'connection_lost',
          'The connection was lost; this may or may not have been done. Look at the item, then try again.',
          true,
        ),
      );
    }
  }

  async #reconnect(): Promise<void> {
    const signedIn = await this.#port.signedIn().catch(() => 'unreachable' as const);
    if (this.#closed) return;
    if (signedIn === false) this.#listener.onState('refused');
    else this.#connect();
  }

  #send(frame: BrowserFrame): void {
    if (this.#ready) this.#socket?.send(encodeFrame(frame));
  }
}

const isRepeatable = (operation: OperationName, input: unknown): boolean =>
  operations[operation].role === 'query' || (typeof input === 'object' && input !== null && 'clientMessageId' in input);
