import { afterEach, expect, test } from 'vitest';
import {
  cleanUp,
  makeEvent,
  openAgent,
  openBrowser,
  STORE_ID,
  startTestBridge,
  type TestBrowser,
} from './harness.test.helper.js';

afterEach(cleanUp);

const seqsOf = ({ inbox }: TestBrowser, itemId: string): number[] =>
  inbox.frames.flatMap((frame) => (frame.type === 'event' && frame.event.itemId === itemId ? [frame.event.seq] : []));

const itemsOf = ({ inbox }: TestBrowser): string[] => [
  ...new Set(inbox.frames.flatMap((frame) => (frame.type === 'event' ? [frame.event.itemId] : []))),
];

const live = (itemId: string) => ({ itemId, since: null });

test('case B05 each browser hears only what it is attached to, nothing before it attached', async () => {
  const bridge = await startTestBridge();
  const agent = await openAgent(bridge);
  const [one, two, idle] = [await openBrowser(bridge), await openBrowser(bridge), await openBrowser(bridge)];
  agent.onRequest = ({ id }) => agent.answer(id, 'pong');
  agent.event('run-1', 1);
  await one.ask('list', {});
  await one.attach(1, { items: [live('run-1')] });
  await two.attach(1, { items: [live('run-2')] });
  for (let seq = 2; seq < 20; seq += 1) {
    agent.event('run-1', seq);
    agent.event('run-2', seq);
  }
  await Promise.all([one, two, idle].map((browser) => browser.ask('list', {})));
  expect(itemsOf(one)).toEqual(['run-1']);
  expect(seqsOf(one, 'run-1')).toEqual(Array.from({ length: 18 }, (_, index) => index + 2));
  expect(itemsOf(two)).toEqual(['run-2']);
  expect(itemsOf(idle)).toEqual([]);
});

test('case B05 switching quickly there and back leaves no event of the run in between, and drops what an old attach asked for', async () => {
  const bridge = await startTestBridge();
  const agent = await openAgent(bridge);
  const browser = await openBrowser(bridge);
  const missed = (itemId: string) => ({ itemId, since: 0, storeId: STORE_ID });
  browser.send({ type: 'attach', generation: 1, board: false, items: [missed('run-1')] });
  browser.send({ type: 'attach', generation: 2, board: false, items: [missed('run-3')] });
  browser.send({ type: 'attach', generation: 3, board: false, items: [missed('run-1')] });
  const replays = [];
  for (let count = 0; count < 3; count += 1) replays.push(await agent.requests.next(() => true));
  for (const [index, { id, input }] of replays.entries()) {
    const { itemId } = input as { itemId: string };
    agent.answer(id, { storeId: STORE_ID, events: [makeEvent(itemId, index + 1)], resync: false });
  }
  agent.event('run-3', 2);
  await browser.inbox.next((frame) => frame.type === 'attached' && frame.generation === 3);
  agent.onRequest = ({ id }) => agent.answer(id, 'pong');
  await browser.ask('list', {});
  expect(itemsOf(browser)).toEqual(['run-1']);
  expect(seqsOf(browser, 'run-1')).toEqual([3]);
  expect(browser.inbox.frames.some(({ type }) => type === 'resync')).toBe(false);
  browser.send({ type: 'attach', generation: 2, board: true, items: [] });
  agent.event('run-3', 3);
  await browser.ask('list', {});
  expect(itemsOf(browser)).toEqual(['run-1']);
});

test('a browser that comes back gets what it missed, in order, each once, also what happens meanwhile', async () => {
  const bridge = await startTestBridge();
  const agent = await openAgent(bridge);
  const browser = await openBrowser(bridge);
  const attached = browser.attach(1, { items: [{ itemId: 'run-1', since: 4, storeId: STORE_ID }] });
  const request = await agent.requests.next(() => true);
  expect(request).toMatchObject({ operation: 'read_events', input: { itemId: 'run-1', since: 4 } });
  agent.event('run-1', 7);
  agent.event('run-1', 8);
  agent.answer(request.id, {
    storeId: STORE_ID,
    events: [5, 6, 7].map((seq) => makeEvent('run-1', seq)),
    resync: false,
  });
  agent.event('run-1', 9);
  await attached;
  await browser.inbox.next((frame) => frame.type === 'event' && frame.event.seq === 9);
  expect(seqsOf(browser, 'run-1')).toEqual([5, 6, 7, 8]);
});

test('who missed too much, or has another store, reads again', async () => {
  const bridge = await startTestBridge();
  const agent = await openAgent(bridge);
  agent.onRequest = ({ id }) => agent.answer(id, { storeId: STORE_ID, events: [], resync: true });
  const browser = await openBrowser(bridge);
  await browser.attach(1, { items: [{ itemId: 'far', since: 1, storeId: STORE_ID }] });
  expect(await browser.next('resync')).toEqual({ type: 'resync', itemId: 'far', reason: 'too_far_behind' });
  await browser.attach(2, { items: [{ itemId: 'other', since: 1, storeId: 'store-0' }] });
  expect(await browser.next('resync')).toEqual({ type: 'resync', itemId: 'other', reason: 'store_changed' });
});

test('the board hears of every item, and live text only goes to who looks at the item', async () => {
  const bridge = await startTestBridge();
  const agent = await openAgent(bridge);
  agent.onRequest = ({ id }) => agent.answer(id, 'pong');
  const [board, item] = [await openBrowser(bridge), await openBrowser(bridge)];
  await board.attach(1, { board: true });
  await item.attach(1, { items: [live('run-1')] });
  const progress = {
    storeId: STORE_ID,
    itemId: 'run-1',
    actionId: null,
    runId: null,
    at: 1,
    activity: 'x',
    control: null,
  };
  agent.send({ type: 'progress', progress: { ...progress, liveText: 'typing' } });
  agent.event('run-1', 1);
  agent.event('run-2', 1);
  await Promise.all([board.ask('list', {}), item.ask('list', {})]);
  expect(itemsOf(board)).toEqual(['run-1', 'run-2']);
  expect(board.inbox.frames.some(({ type }) => type === 'progress')).toBe(false);
  expect(await item.next('progress')).toMatchObject({ progress: { liveText: 'typing' } });
});

test('a frame of an agent that breaks the contract reaches nobody and ends nothing', async () => {
  const bridge = await startTestBridge();
  const agent = await openAgent(bridge);
  agent.onRequest = ({ id }) => agent.answer(id, 'pong');
  const browser = await openBrowser(bridge);
  await browser.attach(1, { board: true });
  agent.socket.send(JSON.stringify({ type: 'event', event: { itemId: 'run-1', seq: 'one' } }));
  agent.socket.send('not json');
  agent.event('run-1', 2);
  await browser.ask('list', {});
  expect(seqsOf(browser, 'run-1')).toEqual([2]);
  expect(bridge.logs.filter(({ event }) => event === 'agent.problem')).toHaveLength(2);
});
