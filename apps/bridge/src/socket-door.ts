import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { MAX_BROWSER_FRAME_BYTES, MAX_FRAME_BYTES } from '@stint/contracts';
import { type WebSocket, WebSocketServer } from 'ws';
import { AgentPeer } from './agent-peer.js';
import { BrowserPeer, type BrowserPeerOptions } from './browser-peer.js';
import type { LogEntry } from './options.js';
import { type OwnAddress, refuseBrowser, refuseForeignOrigin, type Refusal } from './origin-guard.js';
import type { Relay } from './relay.js';
import type { SecretBook } from './secret-book.js';
import { hashSecret, matchesSecret, type SecretHash } from './secret-hash.js';

export interface SocketDoorParts {
  /** Known once the port is. */
  readonly own: () => OwnAddress;
  readonly cookieName: () => string;
  readonly sessions: SecretBook;
  readonly agentToken: SecretHash;
  readonly relay: Relay;
  readonly peerOptions: BrowserPeerOptions;
  readonly log: (entry: LogEntry) => void;
}

const LOCAL_USER = { id: 'local', name: 'You' } as const;

type Admission =
  | { readonly refusal: Refusal }
  | { readonly server: WebSocketServer; readonly open: (socket: WebSocket) => void };

/** Lets sockets in, or answers why not before any frame is read: `/ws` for the page, `/agent` for agents. */
export class SocketDoor {
  readonly #parts: SocketDoorParts;
  readonly #browserSockets = new WebSocketServer({ noServer: true, maxPayload: MAX_BROWSER_FRAME_BYTES });
  readonly #agentSockets = new WebSocketServer({ noServer: true, maxPayload: MAX_FRAME_BYTES });

  constructor(parts: SocketDoorParts) {
    this.#parts = parts;
  }

  onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const admission = this.#admit(request, socket);
    if (!('refusal' in admission)) {
      admission.server.handleUpgrade(request, socket, head, admission.open);
      return;
    }
    const { status, reason } = admission.refusal;
    this.#parts.log({ level: 'warn', event: 'upgrade.refused', status });
    endRaw(socket, status, reason);
  }

  #admit(request: IncomingMessage, connection: Duplex): Admission {
    if (request.url === '/ws') return this.#admitBrowser(request, connection);
    if (request.url === '/agent') return this.#admitAgent(request);
    return { refusal: { status: 404, reason: 'There is no such socket.' } };
  }

  #admitBrowser({ headers }: IncomingMessage, connection: Duplex): Admission {
    const { own, sessions, cookieName, relay, peerOptions } = this.#parts;
    const refusal = refuseForeignOrigin(headers, own());
    if (refusal !== undefined) return { refusal };
    const session = readCookie(headers.cookie, cookieName());
    if (session === undefined || !sessions.has(session)) return { refusal: NOT_SIGNED_IN };
    const user = { ...LOCAL_USER, sessionKey: sessionKey(session) };
    return {
      server: this.#browserSockets,
      open: (socket) => relay.addBrowser(new BrowserPeer({ socket, connection }, user, relay, peerOptions)),
    };
  }

  #admitAgent({ headers }: IncomingMessage): Admission {
    const { own, agentToken, relay, peerOptions } = this.#parts;
    const refusal = refuseBrowser(headers, own());
    if (refusal !== undefined) return { refusal };
    const token = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
    if (!matchesSecret(token, agentToken)) return { refusal: WRONG_TOKEN };
    return { server: this.#agentSockets, open: (socket) => void new AgentPeer(socket, relay, peerOptions) };
  }
}

const NOT_SIGNED_IN: Refusal = { status: 401, reason: 'Sign in with the link that stint printed.' };
const WRONG_TOKEN: Refusal = { status: 401, reason: 'The token is not that of an agent.' };

/** Names a session without being it. */
export function sessionKey(session: string): string {
  return hashSecret(session).toString('hex');
}

/** Answers a connection that gets no further, and ends it. */
export function endRaw(socket: Duplex, status: number, reason: string): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const head = ['connection: close', 'content-type: text/plain', `content-length: ${reason.length}`].join('\r\n');
  socket.end(`HTTP/1.1 ${status} ${STATUS_TEXT[status] ?? 'Refused'}\r\n${head}\r\n\r\n${reason}`);
}

const STATUS_TEXT: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
};

function readCookie(header: string | undefined, name: string): string | undefined {
  const pairs = (header ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}
