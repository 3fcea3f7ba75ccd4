import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { bugFamilies, makeBuggyRepository } from '../src/buggy-repository.js';
import { openBrowser } from '../src/browser.js';
import { type Local, startLocal } from '../src/local.js';
import { Random, testSeed } from '../src/random.js';
import { readStore } from '../src/read-store.js';
import { stint } from '../src/stint.js';
import { briskScenario, type SimulatorProcess, startSimulatorProcess } from '../src/simulator-process.js';

const random = new Random(testSeed());
let browser: Browser;
let simulator: SimulatorProcess;
let local: Local;

beforeAll(async () => {
  browser = await openBrowser(inject('browserPath'));
  simulator = await startSimulatorProcess(briskScenario);
  local = await startLocal(['--model', 'openai:default'], { environment: simulator.environment });
});
afterAll(async () => {
  await browser.close();
  await local[Symbol.asyncDispose]();
  await simulator[Symbol.asyncDispose]();
});

/** Notes every figure an element shows from now on, in the page itself, so that none is missed between two looks. */
async function recordFigures(page: Page): Promise<void> {
  await page.evaluate(() => {
    const seen: { held: Set<string>; states: Set<string> } = { held: new Set(), states: new Set() };
    Object.assign(window, { seen, loadedAt: performance.timeOrigin });
    const look = (): void => {
      const held = document.querySelector('[data-budget="tokens"] [data-figure="held"]')?.textContent;
      if (held) seen.held.add(held);
      for (const node of document.querySelectorAll('[data-action]'))
        seen.states.add(`${node.getAttribute('data-action')}:${node.getAttribute('data-status')}`);
    };
    new MutationObserver(look).observe(document.body, {
      subtree: true,
      childList: true,
      characterData: true,
      attributes: true,
    });
    look();
  });
}

const recorded = (page: Page): Promise<{ held: string[]; states: string[]; loadedAt: number; timeOrigin: number }> =>
  page.evaluate(() => {
    const { seen, loadedAt } = window as unknown as {
      seen: { held: Set<string>; states: Set<string> };
      loadedAt: number;
    };
    return { held: [...seen.held], states: [...seen.states], loadedAt, timeOrigin: performance.timeOrigin };
  });

describe('the page', () => {
  it('takes new work, shows plan, criteria, spent and held tokens live, and ends done', async () => {
    const repository = makeBuggyRepository(random, random.pick(bugFamilies));
    const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    await page.goto(local.url);
    await page.getByRole('link', { name: 'New work item' }).click();
    await page.getByLabel('Goal').fill('make the failing test pass');
    await page.getByLabel(/^Acceptance criteria/).fill('node --test passes');
    await page.getByLabel(/^Directory to work in/).fill(repository.directory);
    await page.getByRole('button', { name: 'Start' }).click();
    await page.locator('[data-item-status]').waitFor();
    await recordFigures(page);

    await page.locator('[data-item-status="done"]').waitFor({ timeout: 90_000 });
    await page.locator('[data-criterion="passed"]').waitFor();
    await page.locator('[data-budget="tokens"] [data-figure="held"]', { hasText: /^0$/ }).waitFor();
    const { held, states, loadedAt, timeOrigin } = await recorded(page);
    expect(held.some((figure) => figure !== '0')).toBe(true);
    expect(states.some((state) => state.endsWith(':running'))).toBe(true);
    expect(states.some((state) => state.endsWith(':completed'))).toBe(true);
    expect(timeOrigin).toBe(loadedAt);
    expect(await page.locator('[data-budget="tokens"] [data-figure="spent"]').textContent()).not.toBe('0');
    expect(readFileSync(join(repository.directory, repository.sourcePath), 'utf8')).toBe(repository.rightSource);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('case B07: the ticket is gone from the address, and works once', async () => {
    const other = await startLocal(['--model', 'simulated']);
    try {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(other.url);
      await page.getByRole('link', { name: 'New work item' }).waitFor();
      expect(page.url()).not.toContain('ticket');
      const stranger = await (await browser.newContext()).newPage();
      await stranger.goto(other.url);
      await stranger.getByText('This page is not signed in').waitFor();
    } finally {
      expect(await other.stop()).toBe(0);
    }
  });

  it('keeps what was typed over a reload, and refuses what does not fit by name', async () => {
    const page = await (await browser.newContext()).newPage();
    const other = await startLocal(['--model', 'simulated']);
    try {
      await page.goto(other.url);
      await page.getByRole('link', { name: 'New work item' }).click();
      await page.getByLabel('Goal').fill('a goal that must not be lost');
      await page.getByLabel('Tokens').fill('many');
      await page.reload();
      expect(await page.getByLabel('Goal').inputValue()).toBe('a goal that must not be lost');
      await page.getByText('Tokens must be a number of 0 or more, such as 20000 or 0.50, not "many"').waitFor();
      expect(await page.getByRole('button', { name: 'Start' }).isDisabled()).toBe(true);
    } finally {
      await other.stop();
    }
  });

  it('keeps a typed answer over a reload, gives it, and the work goes on with it', async () => {
    await using agent = await startLocal();
    const { directory } = makeBuggyRepository(random, random.pick(bugFamilies));
    const words = ['run', 'make the failing test pass', '--dir', directory, '--model', 'simulated:asks', '--json'];
    const asked = await stint(words, { dataDirectory: agent.dataDirectory });
    expect(asked.code, asked.stderr).toBe(3);
    const page = await (await browser.newContext()).newPage();
    await page.goto(agent.url);
    await page.getByText('make the failing test pass').first().click();
    const answer = page.getByLabel('Your answer');
    await answer.fill('the long one');
    await page.reload();
    await answer.waitFor();
    expect(await answer.inputValue()).toBe('the long one');
    await page.getByRole('button', { name: 'Answer' }).click();
    await page.locator('[data-item-status="done"]').waitFor({ timeout: 60_000 });
    const inputs = await readStore<{ text: string }>(agent.dataDirectory, 'SELECT text FROM work_inputs');
    expect(inputs).toEqual([{ text: 'the long one' }]);
    await page.close();
  });

  it('says at once that the connection is lost when the agent is gone', async () => {
    const page = await (await browser.newContext()).newPage();
    const other = await startLocal(['--model', 'simulated']);
    await page.goto(other.url);
    await page.getByRole('link', { name: 'New work item' }).waitFor();
    await other.stop();
    await page.getByText('Connection lost').waitFor();
  });
});
