/** A directory as a user of the published packages has it: tarballs and libraries, installed with plain npm, compiled with TypeScript. */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cleanEnvironment } from './stint.js';

const repository = fileURLToPath(new URL('../../', import.meta.url));

export interface Packed {
  readonly name: string;
  readonly version: string;
  readonly tarball: string;
  /** Where it was packed. */
  readonly folder: string;
}

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end, whatever its exit code; ends one that hangs for fourteen minutes. */
export function run(command: string, words: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<Ended> {
  return new Promise((resolve, reject) => {
    execFile(command, words, { cwd, env, timeout: 840_000, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code;
      if (typeof code === 'number') resolve({ code, stdout, stderr });
      else
        reject(new Error(`${command} ${words.join(' ')} did not end by itself: ${error?.message}\n${stdout}${stderr}`));
    });
  });
}

/** Runs a program that must succeed, and answers what it wrote to stdout. */
export async function runWell(
  command: string,
  words: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const { code, stdout, stderr } = await run(command, words, cwd, env);
  if (code !== 0) throw new Error(`${command} ${words.join(' ')} left with ${code} in ${cwd}:\n${stdout}${stderr}`);
  return stdout;
}

/** Packs every published package as publishing would. */
export async function packAll(into: string): Promise<readonly Packed[]> {
  return JSON.parse(await runWell(process.execPath, ['scripts/pack.mjs', into], repository, process.env)) as Packed[];
}

/** The version that this repository itself uses of a library, so that what the test installs does not change from day to day. */
export function pinned(library: string): string {
  const workspace = readFileSync(join(repository, 'pnpm-workspace.yaml'), 'utf8');
  const [, version] = new RegExp(`^ {2}"?${library.replaceAll('.', '\\.')}"?: (\\S+)$`, 'm').exec(workspace) ?? [];
  if (version === undefined) throw new Error(`${library} has no version in the catalog of pnpm-workspace.yaml`);
  return `${library}@${version}`;
}

/**
 * What npm gets from whoever runs the tests: their settings and cache, not what an npm that runs these tests has set for its own scripts.
 * Node's headers beside the executable spare the compiler of the SQLite driver a download.
 */
function npmEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^npm_/i.test(name) || /^npm_config_(registry|cache|userconfig|nodedir|cafile)$/i.test(name),
  );
  const prefix = dirname(dirname(process.execPath));
  const headers = existsSync(join(prefix, 'include/node/node.h')) ? { npm_config_nodedir: prefix } : {};
  return { ...headers, JOBS: '2', ...Object.fromEntries(kept) };
}

export interface ConsumerOptions {
  readonly tarballs: readonly string[];
  /** `name@version` of what comes from the registry. */
  readonly libraries: readonly string[];
  /** Leaves out install scripts, as package managers do that ask for an approval first. @default false */
  readonly ignoreScripts?: boolean;
}

/** An empty directory, and one `npm install` in it. */
export class Consumer {
  private constructor(readonly directory: string) {}

  static async install({ tarballs, libraries, ignoreScripts = false }: ConsumerOptions): Promise<Consumer> {
    const directory = mkdtempSync(join(tmpdir(), 'stint-consumer-'));
    writeFileSync(join(directory, 'package.json'), '{ "name": "consumer", "private": true, "type": "module" }\n');
    const words = [
      'install',
      '--no-audit',
      '--no-fund',
      '--prefer-offline',
      ...(ignoreScripts ? ['--ignore-scripts'] : []),
    ];
    await runWell('npm', [...words, ...tarballs, ...libraries], directory, npmEnvironment());
    return new Consumer(directory);
  }

  path(...parts: readonly string[]): string {
    return join(this.directory, ...parts);
  }

  installed(name: string, file: string): string {
    return readFileSync(this.path('node_modules', name, file), 'utf8');
  }

  /** All files of an installed package, from its folder, dependencies that are nested in it left out. */
  filesOf(name: string): string[] {
    return readdirSync(this.path('node_modules', name), { recursive: true, encoding: 'utf8', withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(this.path('node_modules', name).length + 1))
      .filter((file) => !file.startsWith('node_modules'));
  }

  /**
   * Takes the SQLite driver over that another directory compiled. npm would run the same install script on the same files with
   * the same Node and compile the same addon; only the minute is saved. Refused when it is another version.
   */
  takeDriverFrom(other: Consumer): void {
    const versions = [this, other].map((one) => one.installed('better-sqlite3', 'package.json'));
    if (versions[0] !== versions[1])
      throw new Error(`two versions of better-sqlite3: ${this.directory} ${other.directory}`);
    const addon = join('node_modules', 'better-sqlite3', 'build', 'Release', 'better_sqlite3.node');
    mkdirSync(dirname(this.path(addon)), { recursive: true });
    cpSync(other.path(addon), this.path(addon));
  }

  /** Opens a SQLite store with the installed `@stint/storage`; answers the code of the error, or `opened`. */
  async openStore(): Promise<string> {
    const code = `import { openSqlite } from '@stint/storage';
      await openSqlite({ path: 'store/store.db' }).then((db) => db.close()).then(() => console.log('opened'), ({ code }) => console.log(code));`;
    return await runWell(process.execPath, ['--input-type=module', '-e', code], this.directory, cleanEnvironment());
  }

  /** Type-checks the modules, declarations of all libraries included, and writes their JavaScript; answers the compiler's findings. */
  async compile(
    name: string,
    modules: Readonly<Record<string, string>>,
    resolution: 'node16' | 'bundler',
  ): Promise<string> {
    const place = this.path(name);
    mkdirSync(place, { recursive: true });
    for (const [module, code] of Object.entries(modules))
      writeFileSync(join(place, `${module}.ts`), `${code}\nexport {};\n`);
    const compilerOptions = {
      target: 'es2022',
      lib: ['es2023', 'esnext.disposable'],
      types: ['node'],
      module: resolution === 'node16' ? 'node16' : 'preserve',
      moduleResolution: resolution,
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      noEmit: resolution === 'bundler',
      rootDir: '.',
      outDir: 'out',
    };
    writeFileSync(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    const tsc = this.path('node_modules/.bin/tsc');
    const { code, stdout, stderr } = await run(tsc, ['-p', place, '--pretty', 'false'], place, cleanEnvironment());
    if (code !== 0 && !stdout.includes('error TS')) throw new Error(`${tsc} left with ${code}:\n${stdout}${stderr}`);
    return stdout.trim();
  }

  /** The program that `compile` wrote. */
  compiled(name: string, module: string): string {
    return this.path(name, 'out', `${module}.js`);
  }

  /** Runs what `compile` wrote, in an empty working directory and with no key in the environment. */
  runCompiled(name: string, module: string): Promise<Ended> {
    const cwd = mkdtempSync(this.path(`run-${module}-`));
    return run(process.execPath, [this.compiled(name, module)], cwd, cleanEnvironment({ HOME: cwd }));
  }
}
