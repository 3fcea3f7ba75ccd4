import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { createRegistry } from './index.js';
import { type FetchOptions, fetchUrlTool } from './fetch-url.js';
import { isPublicAddress } from './public-address.js';
import { callContext, randomWord } from './workspace.test.helper.js';

async function serve(
  handler: RequestListener,
): Promise<{ readonly port: number; readonly requests: string[]; readonly connections: () => number }> {
  const requests: string[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    handler(request, response);
  });
  server.on('connection', () => {
    connections += 1;
  });
  // A proxy's CONNECT: every name leads to this server itself.
  server.on('connect', (request, socket) => {
    requests.push(`CONNECT ${request.url}`);
    const target = connect((server.address() as AddressInfo).port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      target.pipe(socket).pipe(target);
    });
    target.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, requests, connections: () => connections };
}

async function get(url: string, options: FetchOptions = {}) {
  return createRegistry([fetchUrlTool(options)]).call('fetch_url', { url }, callContext());
}

test('private addresses are refused where the connection is made, however they are written', async () => {
  const { port, connections } = await serve((_request, response) => response.end('secret'));
  const hosts = [
    '127.0.0.1',
    'localhost',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::127.0.0.1]',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '127.1',
    '0.0.0.0',
    '[64:ff9b::7f00:1]',
  ];
  for (const host of hosts) {
    const result = await get(`http://${host}:${port}/`);
    expect([host, result.ok, result.code]).toEqual([host, false, 'private_address']);
  }
  expect(connections()).toBe(0);
});

test('special ranges are not public, ordinary addresses are', () => {
  const special = [
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '198.18.0.1',
    '192.0.2.1',
    '::',
    '::1',
    'fe80::1',
    'fc00::1',
    'ff02::1',
    '::ffff:10.0.0.1',
    '64:ff9b::a00:1',
    '2002:a00:1::',
    '2001:db8::1',
    '::7f00:1',
    'nonsense',
    '',
  ];
  for (const address of special) expect([address, isPublicAddress(address)]).toEqual([address, false]);
  for (const address of ['8.8.8.8', '1.1.1.1', '93.184.216.34', '2606:4700:4700::1111', '2a00:1450::1'])
    expect([address, isPublicAddress(address)]).toEqual([address, true]);
});

test('a redirect to a private address is refused, also when the first host is allowed', async () => {
  const inner = await serve((_request, response) => response.end('secret'));
  const outer = await serve((_request, response) =>
    response.writeHead(302, { location: `http://localhost:${inner.port}/` }).end(),
  );
  const result = await get(`http://127.0.0.1:${outer.port}/`, { allowedPrivateHosts: [`127.0.0.1:${outer.port}`] });
  expect(result).toMatchObject({ ok: false, code: 'private_address' });
  expect(inner.requests).toEqual([]);
});

test('an allowed host answers: text is shown with status, size and address; redirects are followed and bounded', async () => {
  const word = randomWord();
  const { port } = await serve((request, response) => {
    if (request.url === '/loop') response.writeHead(302, { location: '/loop' }).end();
    else if (request.url === '/start') response.writeHead(302, { location: '/page' }).end();
    else if (request.url === '/latin1')
      response
        .writeHead(200, { 'content-type': 'text/plain; charset=iso-8859-1' })
        .end(Buffer.from('caf\xe9', 'latin1'));
    else if (request.url === '/image') response.writeHead(200, { 'content-type': 'image/png' }).end('x');
    else if (request.url === '/missing') response.writeHead(404, { 'content-type': 'text/plain' }).end('no such page');
    else response.writeHead(200, { 'content-type': 'text/html' }).end(`<p>${word}</p>`);
  });
  const base = `http://127.0.0.1:${port}`;
  const options = { allowedPrivateHosts: ['127.0.0.1'] };
  expect((await get(`${base}/start`, options)).output).toBe(
    `200 OK text/html (${word.length + 7} bytes) ${base}/page\n\n<p>${word}</p>`,
  );
  expect((await get(`${base}/latin1`, options)).output).toContain('café');
  expect(await get(`${base}/loop`, options)).toMatchObject({ ok: false, code: 'too_many_redirects' });
  expect(await get(`${base}/image`, options)).toMatchObject({ ok: false, code: 'not_text' });
  expect(await get(`${base}/missing`, options)).toMatchObject({
    ok: false,
    code: 'http_error',
    errorEffect: 'none',
    structured: { status: 404 },
  });
});

test('size is bounded after decompression, time by the limit, and other schemes and credentials are refused', async () => {
  const { port } = await serve((request, response) => {
    if (request.url === '/bomb')
      response
        .writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' })
        .end(gzipSync('a'.repeat(50_000_000)));
    else response.writeHead(200, { 'content-type': 'text/plain' }).write('slow'); // and never ends
  });
  const options = { allowedPrivateHosts: ['127.0.0.1'], maxBytes: 10_000, timeoutMs: 200 };
  expect((await get(`http://127.0.0.1:${port}/bomb`, { ...options, timeoutMs: 20_000 })).output).toContain(
    'first 10000 bytes, the rest was not read',
  );
  const slow = await get(`http://127.0.0.1:${port}/slow`, options);
  expect(slow).toMatchObject({ ok: false, code: 'timeout', errorEffect: 'none' });
  expect(slow.fatal).toBeUndefined();
  for (const url of ['file:///etc/passwd', 'ftp://example.com/', 'nonsense', 'http://user:pass@example.com/']) {
    expect(await get(url)).toMatchObject({ ok: false, code: 'invalid_url' });
  }
});

test('HTTPS_PROXY and HTTP_PROXY are honoured, and private hosts are refused behind a proxy too', async () => {
  const { port, requests } = await serve((request, response) =>
    response.writeHead(200, { 'content-type': 'text/plain' }).end(`through ${request.headers.host}`),
  );
  const environment = { HTTP_PROXY: `http://127.0.0.1:${port}`, HTTPS_PROXY: `http://127.0.0.1:${port}` };
  expect((await get('http://some-host.invalid/x', { environment })).output).toContain('through some-host.invalid');
  await get('https://other-host.invalid/y', { environment }); // the proxy here speaks no TLS, so only its CONNECT is seen
  expect(requests.some((line) => line.startsWith('CONNECT other-host.invalid:443'))).toBe(true);
  const before = requests.length;
  for (const host of ['127.0.0.1:1', 'localhost:1', '[::1]:1', '10.0.0.1', '169.254.169.254']) {
    expect(await get(`http://${host}/`, { environment })).toMatchObject({ ok: false, code: 'private_address' });
  }
  expect(requests.length).toBe(before);
});
