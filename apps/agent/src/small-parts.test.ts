import { existsSync, mkdirSync, mkdtempSync, realpathSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AccountSnapshot } from '@stint/ledger';
import { budgetRemedy } from './budget-remedy.js';
import { checkedWorkDirectory, dataDirectoryPath, openDataDirectory } from './data-directory.js';
import { exitCodes, exitReasonOf } from './exit-codes.js';
import { uniqueId } from './id-prefix.js';
import { Models } from './models.js';
import { printable } from './output.js';

const fresh = (): string => realpathSync(mkdtempSync(join(tmpdir(), 'stint-agent-')));

describe('exit codes', () => {
  it.each([
    ['done', null, 0],
    ['cancelled', null, 4],
    ['waiting', 'question', 3],
    ['needs_attention', 'budget', 5],
    ['needs_attention', 'resource_limit', 5],
    ['needs_attention', 'provider', 6],
    ['needs_attention', 'unknown_turn', 3],
    ['needs_attention', 'brand_new', 3],
  ] as const)('%s for the reason %s leaves with %i', (status, code, exitCode) => {
    const reason = exitReasonOf({ status, reason: code === null ? null : { code, message: '' } });
    expect(reason === null ? null : exitCodes[reason]).toBe(exitCode);
  });

  it('has none while an item moves', () => {
    expect(exitReasonOf({ status: 'running', reason: null })).toBeNull();
    expect(exitReasonOf({ status: 'ready', reason: null })).toBeNull();
  });
});

describe('the data directory', () => {
  it('is what the flag says, else STINT_DATA_DIR, else XDG_DATA_HOME, else the home directory', () => {
    const environment = { STINT_DATA_DIR: '/s', XDG_DATA_HOME: '/x' };
    expect(dataDirectoryPath('/f', environment)).toBe('/f');
    expect(dataDirectoryPath(undefined, environment)).toBe('/s');
    expect(dataDirectoryPath(undefined, { XDG_DATA_HOME: '/x' })).toBe('/x/stint');
    expect(dataDirectoryPath(undefined, { XDG_DATA_HOME: 'relative' })).toBe(join(homedir(), '.local/share/stint'));
  });

  it('case C21: is readable by its owner alone from the start, whatever the umask', () => {
    const before = process.umask(0o002);
    try {
      const data = openDataDirectory(join(fresh(), 'deep', 'data'));
      for (const path of [data.path, data.outputs]) expect(statSync(path).mode & 0o777).toBe(0o700);
    } finally {
      process.umask(before);
    }
  });

  it('case C21: keeps a mode that its owner relaxed', () => {
    const path = join(fresh(), 'data');
    mkdirSync(path, { mode: 0o750 });
    openDataDirectory(path);
    expect(statSync(path).mode & 0o777).toBe(0o750);
  });

  it('never lies within a work directory, nor one within it, links seen through', () => {
    const root = fresh();
    const data = openDataDirectory(join(root, 'data'));
    mkdirSync(join(root, 'work'));
    mkdirSync(join(root, 'data-of-mine'));
    mkdirSync(join(data.path, 'inner'));
    symlinkSync(root, join(root, 'work', 'link'));
    for (const path of [root, join(root, 'work', 'link'), join(data.path, 'inner'), data.path])
      expect(() => checkedWorkDirectory(path, data)).toThrow(/lie within each other/);
    expect(checkedWorkDirectory(join(root, 'work'), data)).toBe(join(root, 'work'));
    expect(checkedWorkDirectory(join(root, 'data-of-mine'), data)).toBe(join(root, 'data-of-mine'));
    expect(() => checkedWorkDirectory(join(root, 'gone'), data)).toThrow(/gone cannot be opened/);
    writeFileSync(join(root, 'file'), '');
    expect(() => checkedWorkDirectory(join(root, 'file'), data)).toThrow(/file is no directory/);
    expect(existsSync(join(root, 'gone'))).toBe(false);
  });
});

describe('models', () => {
  it('case I11: says which variable is missing and what works, and never simulates unasked', () => {
    const models = new Models({});
    expect(() => models.choose(undefined)).toThrow(/OPENAI_API_KEY.*--model simulated/);
    expect(() => models.choose('openai:gpt')).toThrow(/needs OPENAI_API_KEY/);
    expect(() => models.choose('opnai:gpt')).toThrow(/no provider "opnai"/);
    expect(() => new Models({ OPENAI_API_KEY: 'sk-made-up' }).choose('openai')).toThrow(/names no model/);
  });

  it('takes what is configured', () => {
    expect(new Models({}).choose('simulated')).toBe('simulated:default');
    expect(new Models({ OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' }).choose('openai:x')).toBe('openai:x');
    expect(new Models({ STINT_MODEL: 'simulated' }).choose(undefined)).toBe('simulated:default');
    expect(new Models({ STINT_MODEL: 'simulated' }, 'simulated:slow').defaultModel).toBe('simulated:slow');
  });

  it('tells of keys whether they are there, never what they are', () => {
    const described = JSON.stringify(new Models({ OPENAI_API_KEY: 'sk-made-up-canary' }).describe());
    expect(described).toContain('{"name":"OPENAI_API_KEY","present":true}');
    expect(described).toContain('{"name":"ANTHROPIC_API_KEY","present":false}');
    expect(described).not.toContain('canary');
  });

  it('lets people look and steer with a model that cannot be had, and refuses to start work with it', () => {
    const models = new Models({ STINT_MODEL: 'openai:gpt' });
    expect(models.describe().models).toContainEqual({
      id: 'openai:gpt',
      available: false,
      missingKey: 'OPENAI_API_KEY',
      priced: false,
    });
    expect(() => models.choose(undefined)).toThrow(/needs OPENAI_API_KEY/);
  });

  it('opens no model without its key, with a code that the work can tell', async () => {
    await expect(new Models({}).open('openai:x')).rejects.toMatchObject({ code: 'provider_not_configured' });
  });
});

describe('small parts', () => {
  it('finds an id by a unique beginning, and says what is wrong otherwise', () => {
    expect(uniqueId('ab', ['abc', 'xyz'], 'work item')).toBe('abc');
    expect(uniqueId('ab', ['ab', 'abc'], 'work item')).toBe('ab');
    expect(() => uniqueId('q', ['abc'], 'work item')).toThrow(/There is no work item "q"/);
    expect(() => uniqueId('a', ['abc', 'abd'], 'work item')).toThrow(/Several work items begin with "a".*abc, abd/);
  });

  it('case W05: lets no text of a model drive the terminal', () => {
    expect(printable('\u001b]0;title\u0007\u202Eok\n\tyes')).toBe('�]0;title��ok\n\tyes');
  });
});

describe('the command that frees a stopped budget', () => {
  const stopped = (code: string, remaining: number, asked: number): AccountSnapshot =>
    ({
      account: 'item:i',
      stopReason: {
        code,
        account: 'item:i',
        at: 1,
        aborts: false,
        limit: 20,
        estimate: { tokens: asked, costMicros: asked },
      },
      remaining: { requests: 0, tokens: remaining, costMicros: remaining },
      limits: { maxConsecutiveFailures: 3 },
      failures: { 'coordinator:i': { failures: 3 } },
    }) as unknown as AccountSnapshot;

  it.each([
    ['tokens_exhausted', 100, 13_305, 'stint budget extend i --tokens 14000 --resume'],
    ['tokens_exhausted', 100, 103, 'stint budget extend i --tokens 20 --resume'],
    ['requests_exhausted', 0, 5, 'stint budget extend i --requests 20 --resume'],
    ['cost_exhausted', 0, 1_234_567, 'stint budget extend i --cost 1.3 --resume'],
    ['failures_exhausted', 0, 0, 'stint budget extend i --failures 3 --resume'],
  ])('after %s with %i left and %i asked is `%s`', (code, remaining, asked, command) => {
    expect(budgetRemedy('i', stopped(code, remaining, asked))).toBe(command);
  });

  it.each<readonly [string, Partial<AccountSnapshot>]>([
    ['tokens_exhausted', { remaining: { requests: 0, tokens: 103, costMicros: 0 } }],
    ['tokens_exhausted', { remaining: { requests: 0, tokens: null, costMicros: 0 } }],
    ['requests_exhausted', { remaining: { requests: 1, tokens: 0, costMicros: 0 } }],
    ['cost_exhausted', { remaining: { requests: 0, tokens: 0, costMicros: 103 } }],
    ['failures_exhausted', { limits: { maxConsecutiveFailures: 6 } }],
  ])('after %s is only the resume once there is room again: %j', (code, now) => {
    expect(budgetRemedy('i', { ...stopped(code, 100, 103), ...now })).toBe('stint budget resume i');
  });

  it('is none of the item where an account above it is full', () => {
    const above = { ...stopped('tokens_exhausted', 0, 5), account: 'item:other' };
    expect(budgetRemedy('i', above)).toBeNull();
  });
});

describe('answers that a provider keeps', () => {
  const openai = 'openai.responses:some-model';
  it.each([
    ['by the key of OpenAI', { OPENAI_API_KEY: 'made-up' }, openai, true],
    ['not without a key', {}, openai, false],
    [
      'not of another server, which may speak the protocol and keep nothing',
      { OPENAI_API_KEY: 'made-up', OPENAI_BASE_URL: 'http://127.0.0.1:9' },
      openai,
      false,
    ],
    ['not of a provider that has no such answers', { OPENAI_API_KEY: 'made-up' }, 'anthropic.messages:m', false],
  ])('are asked for %s', async (_, environment, model, asked) => {
    await using models = new Models(environment);
    expect(models.pastAnswersOf(model) !== null).toBe(asked);
  });
});
