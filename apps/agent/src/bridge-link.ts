import {
  type AgentFrame,
  type AgentRequest,
  decodeBridgeToAgentFrame,
  encodeFrame,
  type Event,
  isOperationName,
  MAX_DTO_BYTES,
  type OperationName,
  operations,
  PROTOCOL_RANGE,
  type Progress,
  utf8Length,
  type WireError,
} from '@stint/contracts';
import { WebSocket } from 'ws';

/** Answers one operation. Input and result are checked against the contract around it. */
export type OperationHandler = (operation: OperationName, input: unknown) => Promise<unknown>;

export interface BridgeLinkOptions {
  /** `ws://host:port/agent`. */
  readonly url: string;
  readonly token: string;
  readonly agent: { readonly id: string; readonly name: string; readonly version: string };
  readonly storeId: string;
  readonly handle: OperationHandler;
  /** Turns whatever a handler threw into what a browser may see: no secret, no path. */
  readonly toWireError: (error: unknown) => WireError;
  /** Called after each welcome of the bridge. */
  readonly onReady?: () => void;
  readonly onTrouble: (message: string) => void;
}

const firstRetryMs = 200;
const longestRetryMs = 5_000;

/**
 * The agent's socket to a bridge. It connects again by itself; the agent works on while the bridge is away.
 *
 * 1. One answer a request, also when the handler throws or its result breaks the contract.
 * 2. Nothing leaves that is larger than a DTO may be or does not match its schema.
 * 3. Silence for two heartbeats ends the socket, and a new one is opened.
 */
export class BridgeLink implements AsyncDisposable {
  readonly #options: BridgeLinkOptions;
  #socket: WebSocket | null = null;
  #ready = false;
  #closed = false;
  #retryMs = firstRetryMs;
  #heartbeatMs = 15_000;
  #beat: NodeJS.Timeout | undefined;
  #watch: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;

  constructor(options: BridgeLinkOptions) {
    this.#options = options;
    this.#connect();
  }

  sendEvent(event: Event): void {
    this.#send({ type: 'event', event });
  }

  sendProgress(progress: Progress): void {
    this.#send({ type: 'progress', progress });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopTimers();
    const socket = this.#socket;
    if (!socket || socket.readyState === WebSocket.CLOSED) return;
    const gone = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.close();
    const timer = setTimeout(() => socket.terminate(), 1_000);
    await gone;
    clearTimeout(timer);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #connect(): void {
    const socket = new WebSocket(this.#options.url, { headers: { authorization: `Bearer ${this.#options.token}` } });
    this.#socket = socket;
    socket.on('open', () => socket.send(encodeFrame(this.#hello())));
    socket.on('message', (data: Buffer) => this.#receive(socket, data.toString('utf8')));
    socket.on('error', (error) => this.#options.onTrouble(`The bridge cannot be reached: ${error.message}`));
    socket.on('close', () => this.#lose(socket));
  }

  #hello(): AgentFrame {
    const { agent, storeId } = this.#options;
    return { type: 'hello', protocol: { ...PROTOCOL_RANGE }, agent, storeId };
  }

  #receive(socket: WebSocket, text: string): void {
    this.#expectSound(socket);
    const decoded = decodeBridgeToAgentFrame(text);
    if (!decoded.ok) {
      this.#options.onTrouble(`The bridge sent a frame that cannot be read: ${decoded.error.message}`);
      const { requestId: id } = decoded.error;
      if (id)
        this.#send({
          type: 'response',
          id,
          ok: false,
          error: { code: 'invalid_frame', message: decoded.error.message, retryable: false },
        });
      return;
    }
    const { frame } = decoded;
    if (frame.type === 'hello') this.#welcome(socket, frame.heartbeatMs);
    else if (frame.type === 'request') void this.#answer(frame);
  }

  #welcome(socket: WebSocket, heartbeatMs: number): void {
    this.#ready = true;
    this.#retryMs = firstRetryMs;
    this.#heartbeatMs = heartbeatMs;
    this.#beat = setInterval(() => this.#send({ type: 'heartbeat', at: Date.now() }), heartbeatMs);
    this.#expectSound(socket);
    this.#options.onReady?.();
  }

  async #answer(request: AgentRequest): Promise<void> {
    const { id } = request;
    try {
      const result = await this.#perform(request);
      this.#send({ type: 'response', id, ok: true, result });
    } catch (error) {
      this.#send({ type: 'response', id, ok: false, error: this.#options.toWireError(error) });
    }
  }

  async #perform({ operation, input }: AgentRequest): Promise<unknown> {
    if (!isOperationName(operation))
      throw new WireRefusal('unknown_operation', `There is no operation "${operation}".`);
    const { input: inputSchema, output: outputSchema } = operations[operation];
    const checked = inputSchema.safeParse(input);
    if (!checked.success)
      throw new WireRefusal(
        'invalid_input',
        checked.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '),
      );
    const result: unknown = outputSchema.parse(await this.#options.handle(operation, checked.data));
    const bytes = utf8Length(JSON.stringify(result));
    if (bytes > MAX_DTO_BYTES)
      throw new WireRefusal('too_large', `The answer to ${operation} has ${bytes} bytes, more than ${MAX_DTO_BYTES}.`);
    return result;
  }

  #send(frame: AgentFrame): void {
    if (this.#ready && this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(encodeFrame(frame));
  }

  #expectSound(socket: WebSocket): void {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => socket.terminate(), this.#heartbeatMs * 2);
  }

  #lose(socket: WebSocket): void {
    if (socket !== this.#socket) return;
    this.#ready = false;
    this.#stopTimers();
    if (this.#closed) return;
    this.#retry = setTimeout(() => this.#connect(), this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, longestRetryMs);
  }

  #stopTimers(): void {
    clearInterval(this.#beat);
    clearTimeout(this.#watch);
    clearTimeout(this.#retry);
  }
}

/** A request refused for a reason that its sender may read as it stands. */
export class WireRefusal extends Error {
  override readonly name = 'WireRefusal';
  readonly code: string;
  readonly retryable: boolean;
  constructor(code: string, message: string, retryable = false) {
    super(message);
    this.code = code;
    this.retryable = retryable;
  }
}
