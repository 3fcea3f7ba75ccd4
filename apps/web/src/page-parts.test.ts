import { describe, expect, it } from 'vitest';
import { budgetRows } from './budget-rows.js';
import { figure } from './figure.js';
import { bannerText } from './connection-banner.js';
import { formatAge, formatMoney, formatShort, formatStatus } from './format.js';
import { commandsOf } from './item-commands.js';
import { budgetInWords, inputOf, type ItemForm, problemsOf } from './item-form.js';
import { lanesOf } from './lanes.js';
import { essentialEdges } from './plan-layout.js';
import { addressOf, routeOf } from './router.js';
import { sentAs } from './sent-as.js';
import { aControl, aDetail, aSummary } from './sample.fixture.js';
import { visibleControls } from './visible-controls.js';

const form = (change: Partial<ItemForm>): ItemForm => ({
  goal: 'Mend the test',
  criteria: '',
  workDir: '',
  model: '',
  tokens: '',
  requests: '',
  dollars: '',
  delivery: '',
  ...change,
});

describe('the new-item form', () => {
  it('makes one criterion a line and leaves empty lines out', () => {
    expect(inputOf(form({ criteria: ' a \n\n b\n' }), 'm', true).acceptanceCriteria).toEqual(['a', 'b']);
  });

  it('preselects files with a directory and an answer without one; a choice wins over both', () => {
    expect(inputOf(form({ workDir: '/d' }), 'm', true).deliveryTarget).toBe('workspace_files');
    expect(inputOf(form({}), 'm', true).deliveryTarget).toBe('response');
    expect(inputOf(form({ workDir: '/d', delivery: 'response' }), 'm', true).deliveryTarget).toBe('response');
  });

  it('keeps 0 as "deny all" and leaves an empty field to the default', () => {
    expect(inputOf(form({ tokens: '0', dollars: '1.5' }), 'm', true).budget).toEqual({
      maxTokens: 0,
      maxCostMicros: 1_500_000,
    });
  });

  it.each(['abc', '-1', '1e99', '0x', '1,5', '12,50', '1.2.3'])(
    'refuses "%s" as a number of tokens by name',
    (tokens) => {
      expect(problemsOf(form({ tokens }))).toEqual([expect.stringContaining(`not "${tokens}"`)]);
    },
  );

  it('reads groups of three, and never takes a decimal comma for one', () => {
    expect(['1,000', '1 000 000', '0.5', '20000'].map((text) => figure(text))).toEqual([1_000, 1_000_000, 1, 20_000]);
    expect(['0,50', '1,5', '1,0000', ',5'].map((text) => figure(text, 1_000_000))).toEqual([
      Number.NaN,
      Number.NaN,
      Number.NaN,
      Number.NaN,
    ]);
  });

  it('refuses files without a directory, a long criterion and too many', () => {
    expect(problemsOf(form({ delivery: 'workspace_files' }))).toEqual([expect.stringContaining('need a directory')]);
    expect(problemsOf(form({ criteria: `x\n${'é'.repeat(500)}` }))).toEqual([
      expect.stringContaining('Criterion 2 is longer'),
    ]);
    expect(problemsOf(form({ criteria: Array.from({ length: 25 }, String).join('\n') }))).toEqual([
      expect.stringContaining('there are 25'),
    ]);
  });

  it('hands the same form over under the same id, also after a reload, and a changed one under another', () => {
    const first = sentAs('', form({ goal: 'a' }), () => 'id-1');
    expect(first).toMatchObject({ id: 'id-1' });
    expect(sentAs(first.kept, form({ goal: 'a' }), () => 'id-2').id).toBe('id-1');
    expect(sentAs(first.kept, form({ goal: 'b' }), () => 'id-2').id).toBe('id-2');
    expect(sentAs('not json', form({}), () => 'id-3').id).toBe('id-3');
    const answered = sentAs('', 'a.js', () => 'id-4');
    expect(sentAs(answered.kept, 'a.js', () => 'id-5').id).toBe('id-4');
    expect(sentAs(answered.kept, 'b.js', () => 'id-5').id).toBe('id-5');
  });

  it('says what the budget buys in words', () => {
    expect(budgetInWords(form({ tokens: '1000', dollars: '2' }), null)).toBe(
      'Buys at most 1,000 tokens (about 750 words read and written), at most $2.00.',
    );
  });
});

describe('the board', () => {
  const items = [
    aSummary({ id: 'a', title: 'Mend the parser', status: 'running', updatedAt: 1 }),
    aSummary({ id: 'b', title: 'Write a letter', status: 'waiting', updatedAt: 3 }),
    aSummary({ id: 'c', title: 'Mend the docs', status: 'done', updatedAt: 2 }),
  ];

  it('puts every item in one lane', () => {
    expect(lanesOf(items, '').map(({ id, items: found }) => [id, found.map((item) => item.id)])).toEqual([
      ['needs_you', ['b']],
      ['working', ['a']],
      ['done', ['c']],
    ]);
  });

  it('finds items by all words of the search', () => {
    expect(lanesOf(items, 'mend DOCS').flatMap(({ items: found }) => found.map(({ id }) => id))).toEqual(['c']);
  });
});

describe('the budget gauge', () => {
  it('splits what counts into spent, held and unknown under one limit', () => {
    const amount = (tokens: number) => ({ requests: 1, tokens, costMicros: null });
    const [tokens] = budgetRows(
      aControl({
        spent: amount(300),
        held: amount(200),
        unknown: amount(100),
        left: { requests: 1, tokens: 400, costMicros: null },
        unmeasuredRequests: 1,
      }),
    );
    expect(tokens).toMatchObject({
      limit: 1_000,
      spent: 300,
      held: 200,
      unknown: 100,
      left: 400,
      scale: 1_000,
      atLeast: '',
    });
  });

  it('shows money only when it is limited or known to be spent', () => {
    expect(budgetRows(aControl()).map(({ name }) => name)).toEqual(['tokens', 'requests']);
    const paid = aControl({ charged: { requests: 1, tokens: 1, costMicros: 5 }, unmeasuredRequests: 1 });
    expect(budgetRows(paid).map(({ atLeast }) => atLeast)).toEqual(['', '', 'at least ']);
    expect(budgetRows(paid).map(({ name }) => name)).toEqual(['tokens', 'requests', 'money']);
  });
});

describe('the plan', () => {
  it('draws an arrow only where no longer way says the same', () => {
    const edge = (source: string, target: string) => ({ id: `${source}>${target}`, source, target });
    const drawn = essentialEdges([edge('a', 'b'), edge('b', 'c'), edge('a', 'c'), edge('a', 'd'), edge('d', 'c')]);
    expect(drawn.map(({ id }) => id)).toEqual(['a>b', 'b>c', 'a>d', 'd>c']);
  });
});

describe('small parts', () => {
  it('reads back every address it writes', () => {
    for (const route of [
      { page: 'board', search: 'a b&c', lane: 'done' },
      { page: 'board', search: '', lane: null },
      { page: 'new' },
      { page: 'item', itemId: '0198-ab', action: '0198-ab/inspect' },
    ] as const) {
      const [pathname = '', query = ''] = addressOf(route).split('?');
      expect(routeOf(pathname, query)).toEqual(route);
    }
  });

  it('offers only the commands a state takes', () => {
    expect(commandsOf(aDetail({ status: 'done' }))).toEqual([]);
    expect(commandsOf(aDetail({ status: 'cancelled' }))).toEqual(['resume']);
    expect(commandsOf(aDetail({ status: 'running' }))).toEqual(['pause', 'cancel']);
    for (const code of ['paused', 'provider', 'refused_decision', 'idle'])
      expect(commandsOf({ ...aDetail({ status: 'needs_attention' }), reason: { code, message: '' } })).toEqual([
        'resume',
        'cancel',
      ]);
  });

  it('tells the worst trouble first', () => {
    expect(bannerText('lost', true, 'x')).toMatch(/Connection lost/);
    expect(bannerText('online', true, 'x')).toMatch(/agent is offline/);
    expect(bannerText('online', false, 'x')).toBe('x');
    expect(bannerText('online', false, null)).toBeNull();
  });

  it('case W05: makes control and direction characters visible and keeps ordinary text as it is', () => {
    expect(visibleControls('\u001b[2J\u202Eabc\rx')).toBe('‹U+001B›[2J‹U+202E›abc‹U+000D›x');
    expect(visibleControls('größe — 漢字 🙂\n\tok\r\n')).toBe('größe — 漢字 🙂\n\tok\n');
  });

  it('shows figures as people read them', () => {
    expect([formatMoney(1_230_000), formatMoney(420), formatMoney(0)]).toEqual(['$1.23', '$0.000420', '$0.00']);
    expect([formatShort(9_999), formatShort(1_234_567)]).toEqual(['9,999', '1.2M']);
    expect([formatAge(0, 1_000), formatAge(0, 42_000), formatAge(0, 7_200_000)]).toEqual([
      'just now',
      '42 s ago',
      '2 h ago',
    ]);
    expect([formatStatus('needs_attention'), formatStatus('brand_new'), formatStatus('constructor')]).toEqual([
      'Needs attention',
      'brand new',
      'constructor',
    ]);
  });
});
