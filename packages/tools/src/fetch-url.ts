import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Dispatcher, Response } from 'undici';
import { ToolError, isToolError, messageOf, refusal } from './errors.js';
import { bareHost, isPublicAddress, privateAddress, publicConnector } from './public-address.js';
import { type ToolReply, reply } from './reply.js';
import type { Environment } from './shell-environment.js';
import { type Tool, defineTool } from './tool.js';

/** Options of `fetch_url`. */
export interface FetchOptions {
  /** Where HTTPS_PROXY, HTTP_PROXY and NO_PROXY are taken from. @default none */
  readonly environment?: Environment;
  /** Hosts (`name` or `name:port`) that may have a private address. @default [] */
  readonly allowedPrivateHosts?: readonly string[];
  /** Most bytes read of an answer. @default 5_242_880 (5 MiB) */
  readonly maxBytes?: number;
  /** @default 30_000 */
  readonly timeoutMs?: number;
}

const MAX_REDIRECTS = 5;
const TEXT_TYPE = /^(?:text\/|application\/(?:.*\+)?(?:json|xml|javascript|x-ndjson|yaml|x-yaml|toml|graphql)\b)/i;

/** The tool `fetch_url`. */
export function fetchUrlTool(options: FetchOptions = {}): Tool {
  const maxBytes = options.maxBytes ?? 5 * 1024 * 1024;
  return defineTool({
    name: 'fetch_url',
    description: `Gets a text document (http or https GET). Follows ${MAX_REDIRECTS} redirects, reads at most ${maxBytes} bytes, and reaches public addresses only.`,
    inputSchema: {
      type: 'object',
      properties: { url: { type: 'string', minLength: 1, maxLength: 8192 } },
      required: ['url'],
      additionalProperties: false,
    },
    readOnly: true,
    concurrencySafe: true,
    errorOutput: null,
    timeoutMs: options.timeoutMs ?? 30_000,
    source: 'built-in',
    annotations: { readOnlyHint: true, openWorldHint: true },
    execute: (input, context) => get(String(input['url']), { ...options, maxBytes, signal: context.signal }),
  });
}

interface GetOptions extends FetchOptions {
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

async function get(given: string, options: GetOptions): Promise<ToolReply> {
  const dispatcher = await dispatcherFor(options);
  try {
    let url = requireUrl(given);
    for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
      const response = await request(url, dispatcher, options);
      const location = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null;
      if (location === null) return await present(url, response, options.maxBytes);
      await response.body?.cancel();
      url = requireUrl(new URL(location, url).href);
    }
    throw refusal('too_many_redirects', `${JSON.stringify(given)} redirects more than ${MAX_REDIRECTS} times.`);
  } finally {
    await dispatcher.destroy();
  }
}

async function request(url: URL, dispatcher: Dispatcher, options: GetOptions): Promise<Response> {
  if (hasProxy(options)) await refusePrivateBehindProxy(url, options);
  const { fetch } = await import('undici');
  try {
    const headers = {
      'user-agent': 'stint-tools',
      accept: 'text/*, application/json, application/xml;q=0.9, */*;q=0.1',
    };
    return await fetch(url, { dispatcher, redirect: 'manual', signal: options.signal, headers });
  } catch (error) {
    options.signal.throwIfAborted();
    const cause = (error as Error).cause ?? error;
    if (isToolError(cause)) throw cause;
    throw new ToolError('fetch_failed', `${url.origin} could not be reached: ${messageOf(cause)}`, {
      errorEffect: 'none',
      retryable: true,
      cause,
    });
  }
}

/** The proxy makes the connection, so only what can be known here is checked: the address written out, or looked up. */
async function refusePrivateBehindProxy(url: URL, options: FetchOptions): Promise<void> {
  const host = bareHost(url.hostname);
  if (isExempt(options)(host, url.port)) return;
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw privateAddress(host);
  if (host === 'localhost' || host.endsWith('.localhost')) throw privateAddress(host);
  const addresses = await lookup(host, { all: true }).catch(() => []); // names may be known to the proxy alone
  if (addresses.some(({ address }) => !isPublicAddress(address))) throw privateAddress(host);
}

async function dispatcherFor(options: FetchOptions): Promise<Dispatcher> {
  const { Agent, EnvHttpProxyAgent } = await import('undici');
  const connect = await publicConnector(isExempt(options));
  if (!hasProxy(options)) return new Agent({ connect });
  const httpProxy = variable(options, 'HTTP_PROXY');
  const httpsProxy = variable(options, 'HTTPS_PROXY');
  return new EnvHttpProxyAgent({
    httpProxy,
    httpsProxy: httpsProxy === '' ? httpProxy : httpsProxy,
    noProxy: variable(options, 'NO_PROXY'),
    connect,
  });
}

function hasProxy(options: FetchOptions): boolean {
  return variable(options, 'HTTP_PROXY') !== '' || variable(options, 'HTTPS_PROXY') !== '';
}

/** Empty text where it is not set, so that the process's own environment is not asked. */
function variable({ environment = {} }: FetchOptions, name: string): string {
  return environment[name.toLowerCase()] ?? environment[name] ?? '';
}

function isExempt({ allowedPrivateHosts = [] }: FetchOptions): (host: string, port: string) => boolean {
  return (host, port) => allowedPrivateHosts.includes(host) || allowedPrivateHosts.includes(`${host}:${port}`);
}

function requireUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw refusal('invalid_url', `${JSON.stringify(text.slice(0, 200))} is not an http or https address.`);
  }
  if (url.username !== '' || url.password !== '')
    throw refusal('invalid_url', 'An address with a user name or password in it is refused.');
  return url;
}

async function present(url: URL, response: Response, maxBytes: number): Promise<ToolReply> {
  const type = response.headers.get('content-type') ?? '';
  if (type !== '' && !TEXT_TYPE.test(type)) {
    await response.body?.cancel();
    throw refusal(
      'not_text',
      `${url.href} is ${type} (${response.headers.get('content-length') ?? 'unknown'} bytes), not text.`,
    );
  }
  const { bytes, isWhole } = await readBody(response, maxBytes);
  const size = isWhole ? `${bytes.length} bytes` : `first ${bytes.length} bytes, the rest was not read`;
  const text = `${response.status} ${response.statusText} ${type} (${size}) ${url.href}\n\n${decode(bytes, type)}`;
  if (response.status < 400) return reply({ text, structured: { status: response.status, url: url.href } });
  return reply({
    text,
    structured: { status: response.status, url: url.href },
    failure: { code: 'http_error', errorEffect: 'none' },
  });
}

/** Counts what is decompressed, so that a small answer cannot grow without bound. */
async function readBody(
  response: Response,
  maxBytes: number,
): Promise<{ readonly bytes: Buffer; readonly isWhole: boolean }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    const part = chunk as Uint8Array;
    chunks.push(part);
    size += part.length;
    if (size > maxBytes) return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), isWhole: false };
  }
  return { bytes: Buffer.concat(chunks), isWhole: true };
}

function decode(bytes: Buffer, type: string): string {
  const charset = /charset="?([\w-]+)/i.exec(type)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return bytes.toString('utf8'); // a charset this runtime does not know
  }
}
