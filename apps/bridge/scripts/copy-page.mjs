// Copies the built page into this package, so that a published bridge carries it: apps/web/dist -> apps/bridge/dist/page.
import { cpSync, existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const bridgeDirectory = join(dirname(fileURLToPath(import.meta.url)), '..');
const source = join(bridgeDirectory, '..', 'web', 'dist');
const target = join(bridgeDirectory, 'dist', 'page');

if (!existsSync(join(source, 'index.html'))) {
  console.error(`The page is not built: ${join(source, 'index.html')} does not exist.`);
  console.error('Build it first: pnpm --filter @stint/web build (or turbo run build, which knows the order).');
  process.exit(1);
}
rmSync(target, { recursive: true, force: true });
cpSync(source, target, { recursive: true });
