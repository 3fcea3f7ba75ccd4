import { lookup as systemLookup } from 'node:dns';
import type { LookupAddress, LookupOptions } from 'node:dns';
import { type LookupFunction, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { buildConnector } from 'undici';
import { type ToolError, refusal } from './errors.js';

/** True for an address on the public internet; every special range (private, loopback, link-local, mapped, ...) is not. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || !isIpv4Compatible(parsed as ipaddr.IPv6);
}

/**
 * A connector that reaches public addresses only. The address is judged where the connection is made, so a name that
 * answers differently the second time, a redirect or an odd spelling of an address changes nothing.
 * @param isExempt true for a host and port that may be private
 */
export async function publicConnector(
  isExempt: (host: string, port: string) => boolean,
): Promise<buildConnector.connector> {
  const { buildConnector } = await import('undici');
  const guarded = buildConnector({ lookup: publicLookup } as buildConnector.BuildOptions);
  const open = buildConnector({});
  return (options, callback) => {
    const host = bareHost(options.hostname);
    if (isExempt(host, portOf(options))) return open(options, callback);
    if (isIP(host) !== 0 && !isPublicAddress(host)) return callback(privateAddress(host), null);
    guarded(options, (error, socket) => {
      if (error !== null) return callback(error, null);
      const { remoteAddress } = socket;
      if (remoteAddress !== undefined && isPublicAddress(remoteAddress)) return callback(null, socket);
      socket.destroy();
      callback(privateAddress(host), null);
    });
  };
}

/** The refusal of a host. */
export function privateAddress(host: string): ToolError {
  return refusal(
    'private_address',
    `${JSON.stringify(host)} is not on the public internet. Private addresses are refused unless the owner allows the host.`,
  );
}

/** A host without the brackets of an IPv6 address. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase();
}

function portOf({ port, protocol }: buildConnector.Options): string {
  if (port !== '') return port;
  return protocol === 'https:' ? '443' : '80';
}

const publicLookup: LookupFunction = (hostname, options, callback) => {
  systemLookup(hostname, { ...(options as LookupOptions), all: true }, (error, addresses: LookupAddress[]) => {
    if (error !== null) return callback(error, '', 0);
    const [first, ...rest] = addresses.filter(({ address }) => isPublicAddress(address));
    if (first === undefined) return callback(privateAddress(hostname), '', 0);
    if ((options as LookupOptions).all === true) return callback(null, [first, ...rest]);
    callback(null, first.address, first.family);
  });
};

/** `::a.b.c.d`, an old way to write an IPv4 address. */
function isIpv4Compatible(address: ipaddr.IPv6): boolean {
  return address.parts.slice(0, 6).every((part) => part === 0);
}
