import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { MAX_FRAME_BYTES } from '@stint/contracts';
import { afterEach, expect, test } from 'vitest';
import { startBridge } from './bridge.js';
import {
  AGENT_TOKEN,
  cleanUp,
  makePage,
  openAgent,
  openBrowser,
  startTestBridge,
  STORE_ID,
  type TestBridge,
} from './harness.test.helper.js';
import { Outbox, type OutSocket } from './outbox.js';

afterEach(cleanUp);

const BUFFER_BYTES = 2 * 1024 * 1024;

test('case B03 a browser that never reads costs a bounded buffer, the others are served, and it is told to read again', async () => {
  const bridge = await startTestBridge({ maxBufferedBytes: BUFFER_BYTES, heartbeatMs: 60_000 });
  const agent = await openAgent(bridge);
  agent.onRequest = ({ id }) => agent.answer(id, 'pong');
  const [stuck, reading] = [await openBrowser(bridge), await openBrowser(bridge)];
  for (const browser of [stuck, reading]) await browser.attach(1, { items: [{ itemId: 'run-1', since: null }] });
  stuck.socket.pause();
  const text = 'd'.repeat(2_000);
  let largest = 0;
  for (let batch = 0; batch < 30; batch += 1) {
    for (let index = 1; index <= 500; index += 1) agent.event('run-1', batch * 500 + index, text);
    await reading.inbox.next((frame) => frame.type === 'event' && frame.event.seq === (batch + 1) * 500);
    reading.inbox.frames.length = 0;
    largest = Math.max(largest, (await bridge.health())['waitingBytes'] ?? 0);
  }
  expect(largest).toBeGreaterThan(BUFFER_BYTES / 2);
  expect(largest).toBeLessThanOrEqual(BUFFER_BYTES);
  await openAgent(bridge, 'agent-2');
  expect((await bridge.health())['browsers']).toBe(2);
  stuck.socket.resume();
  expect(await stuck.next('resync')).toEqual({ type: 'resync', itemId: 'run-1', reason: 'slow_reader' });
  agent.event('run-1', 60_000);
  await stuck.inbox.next((frame) => frame.type === 'event' && frame.event.seq === 60_000);
});

/** A socket whose buffer the test fills and drains by hand. */
class HandSocket {
  bufferedAmount = 0;
  readonly readyState = 1;
  readonly sent: string[] = [];
  corkDepth = 0;
  #onDrain: () => void = () => undefined;

  readonly send = ((frame: Buffer) => {
    this.sent.push(frame.toString());
    this.bufferedAmount += frame.length;
  }) as OutSocket['send'];

  cork(): void {
    this.corkDepth += 1;
  }

  uncork(): void {
    this.corkDepth -= 1;
  }

  on(_event: 'drain', listener: () => void): void {
    this.#onDrain = listener;
  }

  drain(): void {
    this.bufferedAmount = 0;
    this.#onDrain();
  }
}

function handOutbox(maxBytes: number) {
  const socket = new HandSocket();
  const caughtUp: string[] = [];
  let overflows = 0;
  const outbox = new Outbox({ socket, connection: socket }, maxBytes, {
    onCaughtUp: (itemIds) => caughtUp.push(...itemIds),
    onOverflow: () => (overflows += 1),
  });
  return { socket, outbox, caughtUp, overflowCount: () => overflows };
}

test('what one turn of the event loop sends is written together, once', async () => {
  const { socket, outbox } = handOutbox(100);
  outbox.sendReply(Buffer.from('a'));
  outbox.sendEvent(Buffer.from('b'), 'item');
  expect(socket.corkDepth).toBe(1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(socket.corkDepth).toBe(0);
});

test('case B15 the message about to be sent counts: 5 MB at one byte below the limit are not sent', () => {
  const { socket, outbox, overflowCount } = handOutbox(MAX_FRAME_BYTES);
  outbox.sendReply(Buffer.from('x'.repeat(MAX_FRAME_BYTES - 1)));
  outbox.sendEvent(Buffer.from('y'.repeat(5_000_000)), 'item');
  outbox.sendReply(Buffer.from('é'));
  expect(socket.sent).toHaveLength(1);
  expect(overflowCount()).toBe(1);
  expect(socket.bufferedAmount).toBeLessThanOrEqual(MAX_FRAME_BYTES);
  outbox.sendReply(Buffer.from('z'));
  expect(socket.sent).toHaveLength(2);
});

test('progress that does not fit waits as the newest per key, events after a left-out one are left out too', () => {
  const { socket, outbox, caughtUp } = handOutbox(10);
  outbox.sendEvent(Buffer.from('123456789'), 'full');
  outbox.sendProgress(Buffer.from('old'), 'a');
  outbox.sendProgress(Buffer.from('new'), 'a');
  outbox.sendProgress(Buffer.from('other'), 'b');
  outbox.sendEvent(Buffer.from('zz'), 'item');
  outbox.sendEvent(Buffer.from('y'), 'item');
  socket.drain();
  expect(socket.sent).toEqual(['123456789', 'new', 'other']);
  expect(caughtUp).toEqual(['item']);
});

async function rawUpgrade(bridge: TestBridge): Promise<Socket> {
  const cookie = await bridge.signIn();
  const socket = connect(Number(new URL(bridge.url).port), '127.0.0.1');
  const lines = [
    'GET /ws HTTP/1.1',
    `Host: ${bridge.host}`,
    `Origin: http://${bridge.host}`,
    `Cookie: ${cookie}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  await once(socket, 'data');
  return socket;
}

test.each([
  ['reserved bits', [0xf1, 0x80, 0, 0, 0, 0]],
  ['a 64-bit length', [0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]],
  ['an unmasked frame', [0x81, 0x02, 0x68, 0x69]],
  ['an unknown opcode', [0x83, 0x80, 0, 0, 0, 0]],
  ['a text that is no UTF-8', [0x81, 0x81, 0, 0, 0, 0, 0xff]],
])('case B13 %s closes that socket and no other', async (_name, bytes) => {
  const bridge = await startTestBridge();
  const agent = await openAgent(bridge);
  agent.onRequest = ({ id }) => agent.answer(id, 'pong');
  const other = await openBrowser(bridge);
  const raw = await rawUpgrade(bridge);
  raw.resume();
  raw.write(Buffer.from(bytes));
  await once(raw, 'close');
  expect(await other.ask('list', {})).toMatchObject({ ok: true, result: 'pong' });
});

test('case B09 a browser and an agent that vanished without closing are dropped within two intervals', async () => {
  const heartbeatMs = 150;
  const bridge = await startTestBridge({ heartbeatMs });
  const agent = await openAgent(bridge);
  const silent = await rawUpgrade(bridge);
  silent.resume();
  const alive = await openBrowser(bridge);
  agent.socket.pause();
  const startedAt = performance.now();
  await once(silent, 'close');
  expect((await alive.next('presence')).agents).toMatchObject([{ id: 'agent-1', online: false }]);
  expect(performance.now() - startedAt).toBeLessThan(heartbeatMs * 20);
  await alive.next('heartbeat');
  expect((await bridge.health())['browsers']).toBe(1);
});

test('who does not introduce itself is sent away in time, who did stays', async () => {
  const bridge = await startTestBridge({ helloTimeoutMs: 100 });
  const agent = await openAgent(bridge);
  agent.onRequest = ({ id }) => agent.answer(id, 'pong');
  const browser = await openBrowser(bridge);
  await browser.next('hello');
  const mute = await rawUpgrade(bridge);
  mute.resume();
  await once(mute, 'close');
  expect(await browser.ask('list', {})).toMatchObject({ ok: true, result: 'pong' });
  expect(agent.socket.readyState).toBe(agent.socket.OPEN);
});

test('a browser that says anything before hello is sent away', async () => {
  const bridge = await startTestBridge();
  const raw = await rawUpgrade(bridge);
  const text = JSON.stringify({ type: 'heartbeat', at: 1 });
  raw.write(Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]));
  raw.resume();
  await once(raw, 'close');
});

test('closing says goodbye, frees the port, and may be repeated', async () => {
  const bridge = await startTestBridge();
  const agent = await openAgent(bridge);
  const browser = await openBrowser(bridge);
  await browser.next('hello');
  agent.send({
    type: 'progress',
    progress: {
      storeId: STORE_ID,
      itemId: 'i',
      actionId: null,
      runId: null,
      at: 1,
      activity: '',
      liveText: '',
      control: null,
    },
  });
  await Promise.all([bridge.close(), bridge.close()]);
  expect([await agent.closed, await browser.closed]).toEqual([1001, 1001]);
  const port = Number(new URL(bridge.url).port);
  const again = await startTestBridge({ port });
  expect(again.url).toBe(bridge.url);
});

test('bad options, a missing page and a taken port are refused with their code', async () => {
  const pageDirectory = makePage();
  const start = (over: object) => startBridge({ port: 0, agentToken: AGENT_TOKEN, pageDirectory, ...over });
  await expect(start({ port: -1 })).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining('port') as string,
  });
  await expect(start({ host: '0.0.0.0' })).rejects.toMatchObject({ code: 'invalid_option' });
  await expect(start({ agentToken: 'short' })).rejects.toMatchObject({ code: 'invalid_option' });
  await expect(start({ maxBufferedBytes: 1 })).rejects.toMatchObject({ code: 'invalid_option' });
  await expect(start({ pageDirectory: '/nowhere' })).rejects.toMatchObject({ code: 'page_missing' });
  const bridge = await startTestBridge();
  const port = Number(new URL(bridge.url).port);
  await expect(start({ port })).rejects.toMatchObject({ code: 'port_in_use', retryable: true });
});
