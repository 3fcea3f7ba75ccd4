import { existsSync } from 'node:fs';
import { basename } from 'node:path';

/** Name under which a guard shows in the process table. */
export const GUARD_NAME = 'stint-guard';

/** Interpreters that can be a guard, in order of preference. perl starts in a fraction of python's time. */
export const DEFAULT_GUARD_PATHS: readonly string[] = ['/usr/bin/perl', '/usr/bin/python3', '/usr/local/bin/python3'];

/** Number of the system call `prctl`, which perl knows by number only. */
const PRCTL: Readonly<Partial<Record<NodeJS.Architecture, number>>> = {
  x64: 157,
  arm64: 167,
  riscv64: 167,
  loong64: 167,
  ppc64: 171,
  arm: 172,
  ia32: 172,
  s390x: 172,
};

/** A program and its arguments. */
export interface GuardCommand {
  readonly file: string;
  readonly args: readonly string[];
}

/**
 * The command that runs `/bin/sh <args>` under a guard, or undefined where there can be none.
 *
 * A guard asks the kernel (Linux) to be given every process below it that loses its parent, whatever group, session,
 * environment or files that process has left. It ends by itself, with exit code 0, when the last of them has ended: that is the
 * proof that nothing is left. The shell runs in a group of its own, so that the group can be signalled without the guard,
 * which ignores what can be ignored. The guard keeps descriptors 1 and 5 open, and lets go of 3 and 4.
 * Exit code 3: everything has ended that it could see, but the kernel did not give it orphans.
 */
export function guardCommand(shellArgs: readonly string[], paths: readonly string[]): GuardCommand | undefined {
  if (process.platform !== 'linux') return undefined;
  const prctl = PRCTL[process.arch];
  for (const file of paths.filter((path) => existsSync(path))) {
    if (basename(file).startsWith('python')) return { file, args: ['-I', '-S', '-c', PYTHON, ...shellArgs] };
    if (prctl !== undefined) return { file, args: ['-e', perl(prctl), '--', ...shellArgs] };
  }
  return undefined;
}

/** PR_SET_CHILD_SUBREAPER is 36; PR_GET_CHILD_SUBREAPER, 37, tells whether it was heard. */
const perl = (prctl: number): string => `
my $flag = pack("i", 0);
eval { syscall(${prctl}, 36, 1, 0, 0, 0); syscall(${prctl}, 37, $flag, 0, 0, 0) };
my $follows = unpack("i", $flag) == 1;
my @ignored = qw(TERM INT HUP QUIT USR1 USR2 ALRM PIPE);
$SIG{$_} = "IGNORE" for @ignored;
my $child = fork;
exit 126 unless defined $child;
if ($child == 0) {
  $SIG{$_} = "DEFAULT" for @ignored;
  setpgrp(0, 0);
  exec { "/bin/sh" } "/bin/sh", @ARGV;
  exit 126;
}
$0 = "${GUARD_NAME}";
for my $number (3, 4) { if (open(my $held, "<&=", $number)) { close $held } }
1 while wait() != -1;
exit($follows ? 0 : 3);
`;

/** 15 is PR_SET_NAME. */
const PYTHON = `
import os, signal, sys
follows = False
try:
    import ctypes
    libc, flag, one, none = ctypes.CDLL(None), ctypes.c_int(0), ctypes.c_ulong(1), ctypes.c_ulong(0)
    libc.prctl(36, one, none, none, none)
    libc.prctl(37, ctypes.byref(flag), none, none, none)
    follows = flag.value == 1
except Exception:
    libc = None
ignored = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGPIPE]
for each in ignored:
    signal.signal(each, signal.SIG_IGN)
if os.fork() == 0:
    for each in ignored + [signal.SIGXFSZ]:
        signal.signal(each, signal.SIG_DFL)
    os.setpgid(0, 0)
    os.execv("/bin/sh", ["/bin/sh"] + sys.argv[1:])
if libc is not None:
    libc.prctl(15, b"${GUARD_NAME}", none, none, none)
for number in (3, 4):
    try:
        os.close(number)
    except OSError:
        pass
while True:
    try:
        os.wait()
    except ChildProcessError:
        os._exit(0 if follows else 3)
`;
