import type { IncomingHttpHeaders } from 'node:http';

/** Why a request is refused; undefined = it may pass. */
export type Refusal = { readonly status: 401 | 403 | 404; readonly reason: string };

/** Names under which this bridge may be addressed. A name of another host means DNS rebinding. */
export interface OwnAddress {
  /** `127.0.0.1:PORT` and `localhost:PORT`. */
  readonly hosts: ReadonlySet<string>;
}

export function ownAddress(port: number): OwnAddress {
  return { hosts: new Set([`127.0.0.1:${port}`, `localhost:${port}`]) };
}

/** The request must name this bridge as its host. */
export function refuseForeignHost(headers: IncomingHttpHeaders, own: OwnAddress): Refusal | undefined {
  const host = headers.host?.toLowerCase();
  if (host !== undefined && own.hosts.has(host)) return undefined;
  return { status: 403, reason: 'The Host header does not name this bridge.' };
}

/**
 * Whatever acts or opens a socket must come from this bridge's own page. A browser always sends Origin there, so a missing one is refused too, and so is `null`.
 */
export function refuseForeignOrigin(headers: IncomingHttpHeaders, own: OwnAddress): Refusal | undefined {
  const hostRefusal = refuseForeignHost(headers, own);
  if (hostRefusal !== undefined) return hostRefusal;
  if (headers.origin?.toLowerCase() === `http://${headers.host?.toLowerCase()}`) return undefined;
  return { status: 403, reason: 'The Origin header is not that of the page this bridge serves.' };
}

/**
 * Reading is for the own page and for people who type the address or follow a link: another page, also one of another port of this host, may neither read nor embed.
 */
export function refuseForeignRead(headers: IncomingHttpHeaders, own: OwnAddress): Refusal | undefined {
  const hostRefusal = refuseForeignHost(headers, own);
  if (hostRefusal !== undefined) return hostRefusal;
  if (headers.origin !== undefined) return refuseForeignOrigin(headers, own);
  const site = headers['sec-fetch-site'];
  const isForeign = site === 'cross-site' || site === 'same-site';
  if (!isForeign || headers['sec-fetch-mode'] === 'navigate') return undefined;
  return { status: 403, reason: 'Another page may not load this.' };
}

/** An agent is no browser: an Origin header says that a page is behind it. */
export function refuseBrowser(headers: IncomingHttpHeaders, own: OwnAddress): Refusal | undefined {
  const hostRefusal = refuseForeignHost(headers, own);
  if (hostRefusal !== undefined) return hostRefusal;
  if (headers.origin === undefined) return undefined;
  return { status: 403, reason: 'The agent socket is not for browsers.' };
}
