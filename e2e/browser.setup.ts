import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    browserPath: string;
  }
}

/** An installed Chromium if there is one, else the headless shell of an npm package; unpacked once, before the tests, since that is not safe twice at a time. */
async function browserPath(): Promise<string> {
  const installed = [process.env['CHROMIUM_PATH'], '/usr/bin/chromium', '/usr/bin/google-chrome'].find(
    (path) => path && existsSync(path),
  );
  if (installed) return installed;
  const place = join(tmpdir(), `stint-chromium-${process.getuid?.() ?? 0}`);
  mkdirSync(place, { recursive: true });
  process.env['TMPDIR'] = place; // where it unpacks itself
  process.env['AWS_EXECUTION_ENV'] ??= 'AWS_Lambda_nodejs20.x'; // makes it bring the libraries it needs
  const { default: chromium } = await import('@sparticuz/chromium');
  return chromium.executablePath();
}

export default async function setup(project: TestProject): Promise<void> {
  const before = process.env['TMPDIR'];
  project.provide('browserPath', await browserPath());
  if (before === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = before;
}
