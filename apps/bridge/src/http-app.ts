import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { type OwnAddress, refuseForeignOrigin, refuseForeignRead } from './origin-guard.js';
import type { PageFile } from './page-files.js';
import type { SecretBook } from './secret-book.js';

interface Env {
  Bindings: HttpBindings;
}

export interface HttpParts {
  /** Known once the port is. */
  readonly own: () => OwnAddress;
  readonly pageFiles: ReadonlyMap<string, PageFile>;
  readonly tickets: SecretBook;
  readonly sessions: SecretBook;
  readonly cookieName: () => string;
  readonly sessionLifetimeMs: number;
  readonly onSignIn: (succeeded: boolean) => void;
  /** Ends the sockets of a session that signs out. */
  readonly onSignOut: (session: string) => void;
  readonly health: () => Readonly<Record<string, number>>;
  readonly now: () => number;
}

const MAX_TICKET_BODY_BYTES = 1_024;
/** Wrong or used tickets a minute before the door stays shut for the rest of it. A guess has 2^-256 to be right; this bounds the work it costs. */
const MAX_FAILED_SIGN_INS_PER_MINUTE = 30;

/** The HTTP side: sign-in, health, and the page. Sockets are upgraded beside it. */
export function createHttpApp(parts: HttpParts): Hono<Env> {
  const app = new Hono<Env>();
  app.use(async (context, next) => {
    const { headers } = context.env.incoming;
    const isRead = context.req.method === 'GET' || context.req.method === 'HEAD';
    const refusal = isRead ? refuseForeignRead(headers, parts.own()) : refuseForeignOrigin(headers, parts.own());
    if (refusal === undefined) await next();
    else context.res = context.text(refusal.reason, refusal.status);
    for (const [name, value] of securityHeaders(headers.host ?? '')) context.res.headers.set(name, value);
  });
  app.get('/session', (context) => context.body(null, isSignedIn(context, parts) ? 204 : 401));
  app.post('/session', createSignIn(parts));
  app.delete('/session', (context) => signOut(context, parts));
  app.get('/health', (context) => context.json(parts.health()));
  app.get('*', (context) => servePage(context, parts.pageFiles));
  app.onError((_error, context) => context.text('The bridge could not answer this request.', 500));
  return app;
}

/** Nothing but the page's own files runs, loads or connects; nobody may frame it; no address leaks as a referrer. */
function securityHeaders(host: string): readonly (readonly [string, string])[] {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    `connect-src 'self' ws://${host.replaceAll(/[^\w.:[\]-]/g, '')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return [['content-security-policy', policy.join('; ')], ...FIXED_HEADERS];
}

const FIXED_HEADERS: readonly (readonly [string, string])[] = [
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['referrer-policy', 'no-referrer'],
  ['cross-origin-opener-policy', 'same-origin'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['permissions-policy', 'camera=(), geolocation=(), microphone=(), payment=(), usb=()'],
];

function isSignedIn(context: Context<Env>, { sessions, cookieName }: HttpParts): boolean {
  const session = getCookie(context, cookieName());
  return session !== undefined && sessions.has(session);
}

function createSignIn(parts: HttpParts): (context: Context<Env>) => Promise<Response> {
  const limiter = createFailureLimiter(parts.now);
  return async (context) => {
    if (limiter.isShut()) return context.text('Too many attempts. Wait a minute.', 429);
    const ticket = await readTicket(context);
    const isGood = ticket !== null && parts.tickets.spend(ticket);
    parts.onSignIn(isGood);
    if (!isGood) {
      limiter.count();
      return context.text('This link was used before or is too old. Open a new one.', 401);
    }
    setCookie(context, parts.cookieName(), parts.sessions.issue(), {
      httpOnly: true,
      sameSite: 'Strict',
      path: '/',
      maxAge: Math.floor(parts.sessionLifetimeMs / 1_000),
    });
    context.header('cache-control', 'no-store');
    return context.body(null, 204);
  };
}

async function readTicket(context: Context<Env>): Promise<string | null> {
  if (!/^application\/json\b/.test(context.req.header('content-type') ?? '')) return null;
  const length = Number(context.req.header('content-length') ?? Number.POSITIVE_INFINITY);
  if (!(length <= MAX_TICKET_BODY_BYTES)) return null;
  const body: unknown = await context.req.json().catch(() => null); // what is no JSON holds no ticket
  if (typeof body !== 'object' || body === null || !('ticket' in body)) return null;
  return typeof body.ticket === 'string' ? body.ticket : null;
}

interface FailureLimiter {
  isShut(): boolean;
  count(): void;
}

function createFailureLimiter(now: () => number): FailureLimiter {
  let minute = 0;
  let failures = 0;
  const turnPage = (): void => {
    const current = Math.floor(now() / 60_000);
    if (current !== minute) failures = 0;
    minute = current;
  };
  return {
    isShut() {
      turnPage();
      return failures >= MAX_FAILED_SIGN_INS_PER_MINUTE;
    },
    count() {
      turnPage();
      failures += 1;
    },
  };
}

function signOut(context: Context<Env>, parts: HttpParts): Response {
  const session = getCookie(context, parts.cookieName());
  if (session !== undefined && parts.sessions.spend(session)) parts.onSignOut(session);
  deleteCookie(context, parts.cookieName(), { path: '/' });
  return context.body(null, 204);
}

/** A path without a file extension is a view of the page: the page itself shows it. */
function servePage(context: Context<Env>, files: ReadonlyMap<string, PageFile>): Response {
  const path = context.req.path;
  const lastPart = path.slice(path.lastIndexOf('/') + 1);
  const file = files.get(path) ?? (lastPart.includes('.') ? undefined : files.get('/index.html'));
  if (file === undefined) return context.text('There is no such file.', 404);
  return context.body(file.body, 200, { 'content-type': file.contentType, 'cache-control': file.cacheControl });
}
