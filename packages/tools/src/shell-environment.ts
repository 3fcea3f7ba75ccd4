import { homedir, tmpdir, userInfo } from 'node:os';
import { delimiter, dirname } from 'node:path';
import { OPERATION_VARIABLE } from './process-tree.js';

/** Variables of the given environment that a command may see. Everything else, keys above all, stays behind. */
const ALLOWED = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TMPDIR',
  'SHELL',
  'XDG_CACHE_HOME',
  'NVM_DIR',
  'PNPM_HOME',
  'JAVA_HOME',
  'GOPATH',
  'CARGO_HOME',
  'RUSTUP_HOME',
  'PYENV_ROOT',
]);
const ALLOWED_PREFIX = /^LC_[A-Z_]+$/;

/** Nobody is there to page, edit or answer. */
const NON_INTERACTIVE: Readonly<Record<string, string>> = {
  TERM: 'dumb',
  NO_COLOR: '1',
  PAGER: 'cat',
  MANPAGER: 'cat',
  GIT_PAGER: 'cat',
  SYSTEMD_PAGER: '',
  EDITOR: 'true',
  VISUAL: 'true',
  GIT_EDITOR: 'true',
  GIT_SEQUENCE_EDITOR: 'true',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: 'false',
  SSH_ASKPASS: 'false',
  SSH_ASKPASS_REQUIRE: 'never',
  GIT_SSH_COMMAND: 'ssh -o BatchMode=yes',
  SUDO_ASKPASS: 'false',
  DEBIAN_FRONTEND: 'noninteractive',
  npm_config_update_notifier: 'false',
};

/** An environment as a program receives it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What {@link shellEnvironment} builds from. */
export interface ShellEnvironmentOptions {
  /** Where allowed variables are taken from. @default a minimal one made of PATH, HOME, USER, LANG and TMPDIR */
  readonly environment?: Environment;
  /** Further names to pass on. @default [] */
  readonly allow?: readonly string[];
}

/** The environment of a command: allowed variables, settings that keep programs from waiting for a person, the mark. */
export function shellEnvironment(operationId: string, options: ShellEnvironmentOptions = {}): Record<string, string> {
  return {
    ...scrubEnvironment(options.environment ?? minimalEnvironment(), options.allow),
    ...NON_INTERACTIVE,
    [OPERATION_VARIABLE]: operationId,
  };
}

/**
 * The allowed variables of an environment. A process that starts itself again with this environment, and receives its
 * keys another way (a file, a pipe), leaves no key for its children to find in `/proc/<pid>/environ`.
 */
export function scrubEnvironment(environment: Environment, allow: readonly string[] = []): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    const allowed = ALLOWED.has(name) || ALLOWED_PREFIX.test(name) || allow.includes(name);
    if (allowed && value !== undefined) kept[name] = value;
  }
  return kept;
}

function minimalEnvironment(): Environment {
  const { username } = userInfo();
  const path = [
    dirname(process.execPath),
    '/usr/local/bin',
    '/usr/bin',
    '/bin',
    '/usr/local/sbin',
    '/usr/sbin',
    '/sbin',
  ];
  return {
    PATH: path.join(delimiter),
    HOME: homedir(),
    USER: username,
    LOGNAME: username,
    LANG: 'C.UTF-8',
    TMPDIR: tmpdir(),
  };
}
