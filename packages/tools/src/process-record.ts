/**
 * Identity of a process group that a tool is about to run a command in. Kept durably, it lets a later process end what
 * a dead one left running, without ever hitting a stranger that was given the same number.
 */
export interface ProcessRecord {
  /** Id of the call. */
  readonly callId: string;
  /** Value of `STINT_OPERATION` in the environment of everything the command starts. */
  readonly operationId: string;
  readonly host: string;
  /** Pid of the leader, which is also the id of its process group and of the session the command runs in. */
  readonly processGroup: number;
  /** Wall-clock time of the start, ms. */
  readonly startedAt: number;
  /** Kernel start time of the leader in clock ticks after boot, or null where the platform does not tell. */
  readonly startTicks: number | null;
  /** Id of this boot of the machine, or null where the platform does not tell. */
  readonly bootId: string | null;
}
