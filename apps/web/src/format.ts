/** Figures and times as a person reads them. Pure, so that tests need no browser. */

const grouped = new Intl.NumberFormat('en-US');
const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });

/** 12345 -> "12,345". */
export const formatCount = (count: number): string => grouped.format(count);

/** 1234567 -> "1.2M"; exact below ten thousand. */
export const formatShort = (count: number): string => (count < 10_000 ? grouped.format(count) : compact.format(count));

/** Millionths of a dollar as dollars: cents where they suffice, more digits below one cent. */
export function formatMoney(costMicros: number): string {
  const dollars = costMicros / 1_000_000;
  const digits = costMicros !== 0 && dollars < 0.01 ? 6 : 2;
  return `$${dollars.toFixed(digits)}`;
}

/** "just now", "42 s ago", "5 min ago", "3 h ago", then the date. */
export function formatAge(at: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  if (seconds < 5) return 'just now';
  if (seconds < 90) return `${seconds} s ago`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.round(seconds / 3600)} h ago`;
  return new Date(at).toISOString().slice(0, 10);
}

const statusWords: Readonly<Record<string, string>> = {
  draft: 'Draft',
  ready: 'Ready',
  running: 'Running',
  waiting: 'Waiting for you',
  needs_attention: 'Needs attention',
  done: 'Done',
  cancelled: 'Cancelled',
  blocked: 'Waits its turn',
  completed: 'Completed',
  failed: 'Failed',
  closed: 'Closed',
  superseded: 'Superseded',
};

/** A status in words; an unknown one is shown as it came. */
export const formatStatus = (status: string): string =>
  Object.hasOwn(statusWords, status) ? (statusWords[status] ?? status) : status.replaceAll('_', ' ');
