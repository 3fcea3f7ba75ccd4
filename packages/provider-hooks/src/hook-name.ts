/** The name of a hook. */
export type HookName = 'prepare' | 'start' | 'recheck' | 'identified' | 'finish' | 'fail';
