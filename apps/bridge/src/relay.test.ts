import { afterEach, expect, test } from 'vitest';
import { cleanUp, openAgent, openBrowser, startTestBridge } from './harness.test.helper.js';

afterEach(cleanUp);

const COMMAND = { itemId: 'item-1', expectedRevision: 3 };

test('a request reaches the agent with an id of the bridge and the user of the cookie, the answer its asker', async () => {
  const bridge = await startTestBridge();
  const agent = await openAgent(bridge);
  const [one, two] = [await openBrowser(bridge), await openBrowser(bridge)];
  const asked = one.ask('get', { itemId: 'item-1' }, 'r1');
  const alsoAsked = two.ask('get', { itemId: 'item-2' }, 'r1');
  const requests = [await agent.requests.next(() => true), await agent.requests.next(() => true)];
  for (const request of requests) {
    expect(request.id).not.toContain('r1');
    expect(request.user).toEqual({ id: 'local', name: 'You' });
    agent.answer(request.id, request.input);
  }
  expect(await asked).toMatchObject({ ok: true, id: 'r1', result: { itemId: 'item-1' } });
  expect(await alsoAsked).toMatchObject({ ok: true, id: 'r1', result: { itemId: 'item-2' } });
  expect(one.inbox.frames.filter(({ type }) => type === 'response')).toEqual([]);
});

test('what is not in the list, not in the schema or forged never reaches the agent, and is answered with its id', async () => {
  const bridge = await startTestBridge();
  const agent = await openAgent(bridge);
  const browser = await openBrowser(bridge);
  const codeOf = async (operation: string, input: unknown) => {
    const response = await browser.ask(operation, input);
    return response.ok ? 'ok' : response.error.code;
  };
  expect(await codeOf('format_disk', {})).toBe('unknown_operation');
  expect(await codeOf('constructor', {})).toBe('unknown_operation');
  expect(await codeOf('start', { ...COMMAND, user: 'root' })).toBe('invalid_input');
  expect(await codeOf('start', { itemId: 'item-1' })).toBe('invalid_input');
  expect(await codeOf('start', null)).toBe('invalid_input');
  browser.socket.send(
    JSON.stringify({ type: 'request', id: 'f1', operation: 'get', input: { itemId: 'i' }, user: { id: 'root' } }),
  );
  expect(await browser.next('response')).toMatchObject({ id: 'f1', ok: false, error: { code: 'invalid_request' } });
  const honest = browser.ask('start', COMMAND);
  const request = await agent.requests.next(() => true);
  expect(request).toMatchObject({ operation: 'start', input: COMMAND });
  agent.answer(request.id, {});
  expect((await honest).ok).toBe(true);
});

test("an agent's error and its words are passed on", async () => {
  const bridge = await startTestBridge();
  const agent = await openAgent(bridge);
  const error = { code: 'not_found', message: 'There is no such item.', retryable: false };
  agent.onRequest = ({ id }) => agent.send({ type: 'response', id, ok: false, error });
  const browser = await openBrowser(bridge);
  expect(await browser.ask('get', { itemId: 'x' })).toMatchObject({ ok: false, error });
});

test('without an agent a request is answered as offline, not left hanging', async () => {
  const bridge = await startTestBridge();
  const browser = await openBrowser(bridge);
  expect((await browser.next('hello')).agents).toEqual([]);
  expect(await browser.ask('list', {})).toMatchObject({ ok: false, error: { code: 'agent_offline', retryable: true } });
});

test('an agent that does not answer is answered for in time, and its late answer goes nowhere', async () => {
  const bridge = await startTestBridge({ requestTimeoutMs: 60 });
  const agent = await openAgent(bridge);
  const browser = await openBrowser(bridge);
  const query = await browser.ask('get', { itemId: 'x' }, 'q');
  expect(query).toMatchObject({ ok: false, error: { code: 'timeout', retryable: true } });
  const command = await browser.ask('start', COMMAND, 'c');
  expect(command).toMatchObject({ ok: false, error: { code: 'timeout', retryable: false } });
  for (let count = 0; count < 2; count += 1) agent.answer((await agent.requests.next(() => true)).id, 'late');
  agent.onRequest = ({ id }) => agent.answer(id, 'in time');
  expect(await browser.ask('get', { itemId: 'x' }, 'again')).toMatchObject({ ok: true, result: 'in time' });
  expect(browser.inbox.frames.filter(({ type }) => type === 'response')).toEqual([]);
});

test('an agent that goes away is shown as offline and its open requests are answered', async () => {
  const bridge = await startTestBridge();
  const agent = await openAgent(bridge);
  const browser = await openBrowser(bridge);
  expect((await browser.next('hello')).agents).toMatchObject([{ id: 'agent-1', online: true, storeId: 'store-1' }]);
  const asked = browser.ask('start', COMMAND);
  await agent.requests.next(() => true);
  agent.socket.terminate();
  expect(await asked).toMatchObject({ ok: false, error: { code: 'agent_lost', retryable: false } });
  expect((await browser.next('presence')).agents).toMatchObject([{ id: 'agent-1', online: false }]);
  await openAgent(bridge);
  expect((await browser.next('presence')).agents).toMatchObject([{ id: 'agent-1', online: true }]);
  expect(await browser.next('resync')).toMatchObject({ itemId: null, reason: 'agent_returned' });
});

test('an agent cannot answer what another was asked', async () => {
  const bridge = await startTestBridge({ requestTimeoutMs: 5_000 });
  const [one, two] = [await openAgent(bridge, 'one'), await openAgent(bridge, 'two')];
  const browser = await openBrowser(bridge);
  expect(await browser.ask('list', {})).toMatchObject({ ok: false, error: { code: 'agent_ambiguous' } });
  browser.send({ type: 'request', id: 'r1', agentId: 'one', operation: 'list', input: {} });
  const request = await one.requests.next(() => true);
  two.answer(request.id, 'stolen');
  one.answer(request.id, 'mine');
  expect(await browser.next('response')).toMatchObject({ id: 'r1', ok: true, result: 'mine' });
});

test('an agent that connects a second time takes the place of its first socket', async () => {
  const bridge = await startTestBridge();
  const before = await openAgent(bridge);
  const after = await openAgent(bridge);
  expect(await before.closed).toBe(4001);
  after.onRequest = ({ id }) => after.answer(id, 'after');
  const browser = await openBrowser(bridge);
  expect(await browser.ask('list', {})).toMatchObject({ ok: true, result: 'after' });
});

test('more open requests than allowed are refused, those before are still answered', async () => {
  const bridge = await startTestBridge({ maxPendingRequests: 3 });
  const agent = await openAgent(bridge);
  const browser = await openBrowser(bridge);
  const open = ['a', 'b', 'c'].map((id) => browser.ask('list', {}, id));
  expect(await browser.ask('list', {}, 'd')).toMatchObject({ ok: false, error: { code: 'too_many_requests' } });
  for (let count = 0; count < 3; count += 1) agent.answer((await agent.requests.next(() => true)).id, count);
  expect((await Promise.all(open)).every(({ ok }) => ok)).toBe(true);
});

test('commands are written to the log with who and which item, without what was said', async () => {
  const bridge = await startTestBridge();
  const agent = await openAgent(bridge);
  agent.onRequest = ({ id }) => agent.answer(id, {});
  const browser = await openBrowser(bridge);
  await browser.ask('post_message', { itemId: 'item-9', text: 'a private word', clientMessageId: 'm1' });
  expect(bridge.logs).toContainEqual({
    level: 'info',
    event: 'command.relayed',
    user: 'local',
    operation: 'post_message',
    itemId: 'item-9',
  });
  expect(JSON.stringify(bridge.logs)).not.toContain('private');
});
