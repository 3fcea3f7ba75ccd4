import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
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
  const path = await chromium.executablePath();
  process.env['FONTCONFIG_FILE'] = fontsOf(place); // without a single font the page crashes at its first form field
  return path;
}

/** The package's own font settings look for its fonts in /tmp/fonts; these name where they are. */
function fontsOf(place: string): string {
  const file = join(place, 'fonts.conf');
  const folders = [join(place, 'fonts'), '/usr/share/fonts'].map((folder) => `<dir>${folder}</dir>`).join('');
  writeFileSync(
    file,
    `<?xml version="1.0"?><fontconfig>${folders}<cachedir>${join(place, 'font-cache')}</cachedir></fontconfig>`,
  );
  return file;
}

export default async function setup(project: TestProject): Promise<void> {
  const before = process.env['TMPDIR'];
  project.provide('browserPath', await browserPath());
  if (before === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = before;
}
