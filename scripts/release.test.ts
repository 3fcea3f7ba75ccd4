import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lowManifest, plantWorkspace, type PlantedWorkspace } from './checks/planted-workspace.js';

/** A registry that keeps what is published, in order, and refuses one name. */
class FakeRegistry {
  readonly published = new Map<string, unknown>();
  refused: string | null = null;
  readonly #server: Server = createServer((request, response) => {
    const name = decodeURIComponent((request.url ?? '/').slice(1).split('?')[0] ?? '');
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      const [status, answer] = request.method === 'PUT' ? this.#put(name, body) : this.#get(name);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
  });

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  #put(name: string, body: string): [number, object] {
    if (name === this.refused) return [403, { error: 'refused for the test' }];
    this.published.set(name, JSON.parse(body));
    return [201, { ok: true }];
  }

  #get(name: string): [number, object] {
    const document = this.published.get(name);
    return typeof document === 'object' && document !== null ? [200, document] : [404, { error: 'not_found' }];
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }
}

let workspace: PlantedWorkspace;
let registry: FakeRegistry;
let environment: NodeJS.ProcessEnv;

beforeEach(async () => {
  workspace = plantWorkspace();
  for (const path of ['scripts', 'package.json', 'LICENSE']) workspace.copy(path);
  workspace.write('pnpm-workspace.yaml', 'packages:\n  - packages/*\n');
  // By name the dependents come before what they depend on.
  for (const [name, needs] of [
    ['low', []],
    ['eager', ['low']],
    ['bold', ['eager']],
  ] as const) {
    depend(name, needs);
    workspace.write(`packages/${name}/README.md`, `# ${name}\n`);
    workspace.write(`packages/${name}/index.js`, 'export {};\n');
    workspace.write(`packages/${name}/.npmignore`, 'src\n');
  }
  registry = new FakeRegistry();
  const address = await registry.listen();
  workspace.write('.npmrc', `@stint:registry=http://${address}/\n//${address}/:_authToken=made-up\n`);
  const kept = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
  environment = {
    ...Object.fromEntries(kept),
    npm_config_fetch_retries: '0',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_AUTHOR_NAME: 'A',
    GIT_AUTHOR_EMAIL: 'a@example.org',
    GIT_COMMITTER_NAME: 'A',
    GIT_COMMITTER_EMAIL: 'a@example.org',
  };
  await call('git', 'init', '--quiet');
  await call('git', 'commit', '--quiet', '--allow-empty', '--message', 'start');
});
afterEach(async () => {
  await registry.close();
  workspace.remove();
});

/** Writes the package's manifest, and links what it depends on as an installation does. */
function depend(name: string, needs: readonly string[]): void {
  const dependencies = Object.fromEntries(needs.map((one) => [`@stint/${one}`, 'workspace:*']));
  workspace.write(`packages/${name}/package.json`, {
    ...lowManifest,
    name: `@stint/${name}`,
    version: '1.2.3',
    dependencies,
  });
  const scope = join(workspace.root, 'packages', name, 'node_modules/@stint');
  mkdirSync(scope, { recursive: true });
  for (const one of needs) symlinkSync(join(workspace.root, 'packages', one), join(scope, one));
}

async function call(command: string, ...words: string[]): Promise<{ code: number | null; printed: string }> {
  const child = spawn(command, words, { cwd: workspace.root, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (printed += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, printed };
}

const release = (...words: string[]) => call(process.execPath, 'scripts/release.mjs', ...words);
const tags = async (): Promise<string[]> => (await call('git', 'tag')).printed.trim().split('\n').filter(Boolean);

describe('a release', () => {
  it('case U05: ends where publishing fails, publishes nothing that needs what failed, and is completed by the next run', async () => {
    registry.refused = '@stint/eager';
    const first = await release();
    expect(first, first.printed).toMatchObject({
      code: 1,
      printed: expect.stringContaining('not published   @stint/eager@1.2.3'),
    });
    expect([...registry.published.keys()]).toEqual(['@stint/low']);
    expect(await tags()).toEqual(['@stint/low@1.2.3']);

    registry.refused = null;
    const second = await release();
    expect(second, second.printed).toMatchObject({
      code: 0,
      printed: expect.stringContaining('there already   @stint/low@1.2.3'),
    });
    expect([...registry.published.keys()]).toEqual(['@stint/low', '@stint/eager', '@stint/bold']);
    expect(await tags()).toEqual(['@stint/bold@1.2.3', '@stint/eager@1.2.3', '@stint/low@1.2.3']);
  });

  it('case U05: tags what an interrupted run published without tagging it', async () => {
    await release();
    await call('git', 'tag', '--delete', '@stint/eager@1.2.3');
    expect((await release()).code).toBe(0);
    expect(await tags()).toContain('@stint/eager@1.2.3');
  });

  it('shows what it would publish, dependencies first, and does nothing', async () => {
    const { code, printed } = await release('--dry-run');
    expect(code, printed).toBe(0);
    expect(printed.match(/would publish {3}\S+/g)?.map((line) => line.split(/\s+/).at(-1))).toEqual(
      ['low', 'eager', 'bold'].map((name) => `@stint/${name}@1.2.3`),
    );
    expect(registry.published.size).toBe(0);
    expect(await tags()).toEqual([]);
  });

  it('publishes nothing when one package could not be installed elsewhere', async () => {
    workspace.write('packages/hidden/package.json', { ...lowManifest, name: '@stint/hidden', private: true });
    depend('low', ['hidden']);
    const { code, printed } = await release();
    expect(code).toBe(1);
    expect(printed).toContain('@stint/low: dependencies holds "@stint/hidden", which is private');
    expect(registry.published.size).toBe(0);
  });
});
