import { request } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import {
  AGENT_TOKEN,
  cleanUp,
  openAgent,
  openBrowser,
  postTicket,
  startTestBridge,
  type TestBridge,
  upgradeStatus,
} from './harness.test.helper.js';

afterEach(cleanUp);

/** fetch sets Host and Origin itself; a hostile client does not. */
async function rawStatus(
  bridge: TestBridge,
  method: string,
  path: string,
  headers: Record<string, string>,
): Promise<number> {
  const { hostname, port } = new URL(bridge.url);
  return new Promise((resolve, reject) => {
    const outgoing = request({ hostname, port, method, path, headers, setHost: !('host' in headers) }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    outgoing.on('error', reject).end();
  });
}

test('case B01 a page from elsewhere gets 403 before the upgrade, the own page gets in', async () => {
  const bridge = await startTestBridge();
  const cookie = await bridge.signIn();
  const own = `http://${bridge.host}`;
  const port = new URL(bridge.url).port;
  const foreign: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `http://localhost.evil.example:${port}` },
    { origin: `https://${bridge.host}` },
    { origin: `http://localhost:${port}` },
    { origin: `http://127.0.0.1:1` },
    { host: 'evil.example', origin: 'http://evil.example' },
    { host: `evil.example:${port}`, origin: `http://evil.example:${port}` },
  ];
  for (const headers of foreign) {
    expect(await upgradeStatus(bridge, '/ws', { cookie, ...headers }), JSON.stringify(headers)).toBe(403);
  }
  expect(await upgradeStatus(bridge, '/ws', { cookie, origin: own })).toBe(101);
  const localhost = `localhost:${port}`;
  expect(await upgradeStatus(bridge, '/ws', { cookie, host: localhost, origin: `http://${localhost}` })).toBe(101);
});

test('case B01 HTTP refuses foreign hosts and origins, and what acts needs the own origin', async () => {
  const bridge = await startTestBridge();
  for (const method of ['POST', 'DELETE', 'PUT', 'PATCH', 'OPTIONS']) {
    for (const headers of [{}, { origin: 'null' }, { origin: 'https://evil.example' }] as Record<string, string>[]) {
      expect(await rawStatus(bridge, method, '/session', headers), `${method} ${JSON.stringify(headers)}`).toBe(403);
    }
  }
  for (const path of ['/', '/session', '/health', '/assets/index-abc.js']) {
    expect(await rawStatus(bridge, 'GET', path, { host: 'evil.example' }), path).toBe(403);
    expect(await rawStatus(bridge, 'GET', path, { origin: 'https://evil.example' }), path).toBe(403);
  }
  expect(await rawStatus(bridge, 'GET', '/', {})).toBe(200);
  for (const site of ['cross-site', 'same-site']) {
    const load = { 'sec-fetch-site': site, 'sec-fetch-mode': 'no-cors' };
    expect(await rawStatus(bridge, 'GET', '/health', load), site).toBe(403);
    expect(await rawStatus(bridge, 'GET', '/', { ...load, 'sec-fetch-mode': 'navigate' }), site).toBe(200);
  }
  expect(await rawStatus(bridge, 'GET', '/', { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' })).toBe(200);
});

test('case B11 without Origin and without token no socket opens', async () => {
  const bridge = await startTestBridge();
  const cookie = await bridge.signIn();
  expect(await upgradeStatus(bridge, '/ws', {})).toBe(403);
  expect(await upgradeStatus(bridge, '/ws', { cookie })).toBe(403);
  expect(await upgradeStatus(bridge, '/ws', { origin: `http://${bridge.host}` })).toBe(401);
  expect(await upgradeStatus(bridge, '/agent', {})).toBe(401);
  expect(await upgradeStatus(bridge, '/elsewhere', {})).toBe(404);
});

test('an agent needs its whole token, and a page cannot pass for one', async () => {
  const bridge = await startTestBridge();
  const withToken = (token: string) => ({ authorization: `Bearer ${token}` });
  for (const token of ['', 'x', AGENT_TOKEN.slice(1), `${AGENT_TOKEN}x`]) {
    expect(await upgradeStatus(bridge, '/agent', withToken(token))).toBe(401);
  }
  const page = { ...withToken(AGENT_TOKEN), origin: `http://${bridge.host}` };
  expect(await upgradeStatus(bridge, '/agent', page)).toBe(403);
  expect(await upgradeStatus(bridge, `/agent?token=${AGENT_TOKEN}`, {})).toBe(404);
  expect(await upgradeStatus(bridge, '/agent', withToken(AGENT_TOKEN))).toBe(101);
});

test('a ticket signs in once, into a cookie that scripts and other sites do not get', async () => {
  const bridge = await startTestBridge();
  const ticketUrl = bridge.ticketUrl();
  const first = await postTicket(bridge.url, ticketUrl);
  expect(first.status).toBe(204);
  expect(first.headers.get('set-cookie')).toMatch(/HttpOnly.*SameSite=Strict|SameSite=Strict.*HttpOnly/);
  expect((await postTicket(bridge.url, ticketUrl)).status).toBe(401);
  const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? '';
  const session = async (headers: Record<string, string>) =>
    (await fetch(new URL('/session', bridge.url), { headers })).status;
  expect(await session({ cookie })).toBe(204);
  expect(await session({})).toBe(401);
  expect(await session({ cookie: `${cookie}x` })).toBe(401);
});

test('of two who bring the same ticket at once, one gets in', async () => {
  const bridge = await startTestBridge();
  const ticketUrl = bridge.ticketUrl();
  const answers = await Promise.all(Array.from({ length: 8 }, () => postTicket(bridge.url, ticketUrl)));
  expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
});

test('a ticket past its lifetime does not sign in', async () => {
  const bridge = await startTestBridge({ ticketLifetimeMs: 1 });
  const ticketUrl = bridge.ticketUrl();
  const issuedAt = Date.now();
  while (Date.now() <= issuedAt + 1) await fetch(new URL('/health', bridge.url));
  expect((await postTicket(bridge.url, ticketUrl)).status).toBe(401);
});

test('guessing tickets shuts the door for a while', async () => {
  const bridge = await startTestBridge();
  const statuses = new Set<number>();
  for (let guess = 0; guess < 70; guess += 1) {
    statuses.add((await postTicket(bridge.url, `${bridge.url}#ticket=guess${guess}`)).status);
  }
  expect(statuses).toEqual(new Set([401, 429]));
});

test('signing out ends the sockets of that session and no other', async () => {
  const bridge = await startTestBridge();
  const cookie = await bridge.signIn();
  const leaving = await openBrowser(bridge, cookie);
  const staying = await openBrowser(bridge);
  await leaving.next('hello');
  await staying.next('hello');
  await fetch(new URL('/session', bridge.url), {
    method: 'DELETE',
    headers: { cookie, origin: `http://${bridge.host}` },
  });
  expect(await leaving.closed).toBe(4002);
  expect(await upgradeStatus(bridge, '/ws', { cookie, origin: `http://${bridge.host}` })).toBe(401);
  expect((await staying.ask('get', { itemId: 'x' })).ok).toBe(false);
});

test('case B07 no token, ticket or cookie is in any address, log line, header or error text', async () => {
  const bridge = await startTestBridge();
  const ticketUrl = bridge.ticketUrl();
  const ticket = new URL(ticketUrl).hash.slice('#ticket='.length);
  expect(new URL(ticketUrl).search).toBe('');
  const signIn = await postTicket(bridge.url, ticketUrl);
  const cookie = signIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  const refused = await postTicket(bridge.url, ticketUrl);
  const page = await fetch(bridge.url, { headers: { cookie } });
  await openAgent(bridge);
  await openBrowser(bridge, cookie);
  await upgradeStatus(bridge, '/agent', { authorization: `Bearer ${AGENT_TOKEN}x` });
  const said = [
    JSON.stringify(bridge.logs),
    await refused.text(),
    await page.text(),
    JSON.stringify([...page.headers, ...refused.headers]),
  ].join('\n');
  expect(bridge.logs.length).toBeGreaterThan(3);
  const secrets = [ticket, cookie.slice(cookie.indexOf('=') + 1), AGENT_TOKEN];
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(16);
    expect(said).not.toContain(secret);
  }
  expect(page.headers.get('referrer-policy')).toBe('no-referrer');
});

test('every answer carries a policy under which only own files run, also a refusal', async () => {
  const bridge = await startTestBridge();
  for (const path of ['/', '/items/x', '/assets/index-abc.js', '/nothing.js', '/session']) {
    const { headers } = await fetch(new URL(path, bridge.url));
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy, path).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy, path).toContain("frame-ancestors 'none'");
    expect(policy, path).not.toMatch(/unsafe|\*|data:/);
    expect(headers.get('x-content-type-options'), path).toBe('nosniff');
  }
});

test('views of the page get the page, files get themselves, and nothing outside is served', async () => {
  const bridge = await startTestBridge();
  const get = async (path: string) => fetch(new URL(path, bridge.url));
  for (const view of ['/', '/new', '/items/0198f6b2']) {
    const answer = await get(view);
    expect(await answer.text()).toContain('<title>Stint</title>');
    expect(answer.headers.get('cache-control')).toBe('no-store');
  }
  const asset = await get('/assets/index-abc.js');
  expect(asset.headers.get('content-type')).toMatch(/^text\/javascript/);
  expect(asset.headers.get('cache-control')).toContain('immutable');
  expect((await get('/missing.js')).status).toBe(404);
  expect(await rawStatus(bridge, 'GET', '/../../etc/passwd.txt', {})).toBe(404);
  expect(await rawStatus(bridge, 'GET', '/%2e%2e/%2e%2e/package.json', {})).toBe(404);
});
