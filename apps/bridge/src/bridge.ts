import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { getRequestListener } from '@hono/node-server';
import { BridgeError } from './errors.js';
import { createHttpApp } from './http-app.js';
import { type BridgeOptions, resolveOptions, type ResolvedOptions } from './options.js';
import { type OwnAddress, ownAddress } from './origin-guard.js';
import { readPageFiles } from './page-files.js';
import { Relay } from './relay.js';
import { SecretBook } from './secret-book.js';
import { hashSecret } from './secret-hash.js';
import { endRaw, sessionKey, SocketDoor } from './socket-door.js';

/** A running bridge. */
export interface Bridge {
  /** Address of the page, without a ticket. */
  readonly url: string;
  /** Address of the agent's socket; it connects with `Authorization: Bearer <agentToken>`. */
  readonly agentUrl: string;
  /** @returns an address that signs a browser in, once, within its lifetime. */
  ticketUrl(): string;
  /** Says goodbye to all sockets and frees the port. May be called again. */
  close(): Promise<void>;
}

const CLOSE_GRACE_MS = 1_000;
const MAX_TICKETS = 32;
const MAX_SESSIONS = 64;

/**
 * Starts a bridge on loopback and answers when it listens.
 * @throws BridgeError `invalid_option`, `page_missing`, `port_in_use`, `cannot_listen`
 */
export async function startBridge(options: BridgeOptions): Promise<Bridge> {
  const resolved = resolveOptions(options, fileURLToPath(new URL('./page/', import.meta.url)));
  const relay = new Relay(resolved);
  const { server, tickets, setPort } = openDoors(resolved, relay);
  const port = await listen(server, resolved);
  setPort(port);
  resolved.log({ level: 'info', event: 'bridge.listening', port });
  const url = `http://127.0.0.1:${port}/`;
  let closing: Promise<void> | undefined;
  return {
    url,
    agentUrl: `ws://127.0.0.1:${port}/agent`,
    ticketUrl: () => `${url}#ticket=${tickets.issue()}`,
    close: () => (closing ??= closeBridge(server, relay, resolved)),
  };
}

interface Doors {
  readonly server: Server;
  readonly tickets: SecretBook;
  readonly setPort: (port: number) => void;
}

/** Everything by which something gets in: HTTP, the browsers' socket, the agent's socket. */
function openDoors(options: ResolvedOptions, relay: Relay): Doors {
  const { log, heartbeatMs, helloTimeoutMs, maxBufferedBytes, sessionLifetimeMs, ticketLifetimeMs } = options;
  const now = Date.now;
  let own: OwnAddress = ownAddress(0);
  let cookieName = '';
  const tickets = new SecretBook({ lifetimeMs: ticketLifetimeMs, maximum: MAX_TICKETS, now });
  const sessions = new SecretBook({ lifetimeMs: sessionLifetimeMs, maximum: MAX_SESSIONS, now });
  const shared = { own: () => own, cookieName: () => cookieName, sessions };
  const app = createHttpApp({
    ...shared,
    pageFiles: readPageFiles(options.pageDirectory),
    tickets,
    sessionLifetimeMs,
    onSignIn: (succeeded) => log({ level: succeeded ? 'info' : 'warn', event: 'browser.sign_in', succeeded }),
    onSignOut: (session) => relay.signOut(sessionKey(session)),
    health: () => relay.counts,
    now,
  });
  const bridgeVersion = readVersion();
  const peerOptions = {
    heartbeatMs,
    helloTimeoutMs,
    maxBufferedBytes,
    bridgeVersion,
    now,
    agents: () => relay.agents(),
  };
  const door = new SocketDoor({ ...shared, agentToken: hashSecret(options.agentToken), relay, peerOptions, log });
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing));
  server.on('upgrade', (request, socket, head) => door.onUpgrade(request, socket, head));
  server.on('clientError', (_error, socket) => endRaw(socket, 400, 'This is no HTTP request.'));
  const setPort = (port: number): void => {
    own = ownAddress(port);
    cookieName = `stint_session_${port}`;
  };
  return { server, tickets, setPort };
}

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : '';
}

async function listen(server: Server, { port, host }: ResolvedOptions): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, port)));
    server.listen(port, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}

function listenError(cause: NodeJS.ErrnoException, port: number): BridgeError {
  if (cause.code !== 'EADDRINUSE') return new BridgeError('cannot_listen', `Port ${port}: ${cause.message}`, { cause });
  const message = `Port ${port} is taken. Choose another one, or 0 for any free one.`;
  return new BridgeError('port_in_use', message, { retryable: true, cause });
}

async function closeBridge(server: Server, relay: Relay, { log }: ResolvedOptions): Promise<void> {
  relay.closeAll();
  const cutOff = setTimeout(() => {
    relay.terminateAll();
    server.closeAllConnections();
  }, CLOSE_GRACE_MS);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
  clearTimeout(cutOff);
  log({ level: 'info', event: 'bridge.closed' });
}
