import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { documentOf, freshDataDirectory, stint } from '../src/stint.js';

/** Starts a server that answers every request alike, uses it, and ends it. */
async function withServer(
  status: number,
  body: string,
  use: (url: string, count: () => number) => Promise<void>,
): Promise<void> {
  let count = 0;
  const server = createServer((_request, response) => {
    count += 1;
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, () => count);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const key = 'sk-made-up-canary-0123456789abcdef';

const runAt = (url: string) =>
  stint(['run', 'say hello', '--model', 'openai:m', '--json'], {
    dataDirectory: freshDataDirectory(),
    environment: { OPENAI_BASE_URL: url, OPENAI_API_KEY: key },
  });

describe('a provider that cannot be used', () => {
  it('case I01: leaves with 6 when it refuses the key, charges nothing, and shows no key', async () => {
    await withServer(
      401,
      JSON.stringify({ error: { message: `Incorrect API key provided: ${key}` } }),
      async (url, count) => {
        const ended = await runAt(url);
        expect(ended.code, ended.stderr).toBe(6);
        expect(documentOf(ended)).toMatchObject({ reason: 'provider', usage: { tokens: 0 } });
        expect(count()).toBe(1);
        expect(ended.stdout + ended.stderr).not.toContain(key);
      },
    );
  });

  it('case I01: leaves with 6 when nobody listens, and charges nothing for requests that never left', async () => {
    let url = '';
    await withServer(200, '', async (address) => {
      url = address;
    });
    const ended = await runAt(url);
    expect(ended.code, ended.stderr).toBe(6);
    expect(documentOf(ended)).toMatchObject({ reason: 'provider', usage: { tokens: 0 } });
  });
});
