import type { WorkItemSummary } from '@stint/contracts';

export interface Lane {
  readonly id: 'working' | 'needs_you' | 'done';
  readonly title: string;
  readonly items: readonly WorkItemSummary[];
}

const laneOf = (status: string): Lane['id'] => {
  if (status === 'waiting' || status === 'needs_attention' || status === 'draft') return 'needs_you';
  return status === 'done' || status === 'cancelled' ? 'done' : 'working';
};

/** The board's lanes with the items that match the search, newest first. Words may stand anywhere in title, status or directory. */
export function lanesOf(items: Iterable<WorkItemSummary>, search: string): readonly Lane[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = [...items]
    .filter((item) => {
      const text = `${item.title} ${item.status} ${item.workDirName ?? ''}`.toLowerCase();
      return words.every((word) => text.includes(word));
    })
    .sort((a, b) => b.updatedAt - a.updatedAt);
  const lane = (id: Lane['id'], title: string): Lane => ({
    id,
    title,
    items: found.filter(({ status }) => laneOf(status) === id),
  });
  return [lane('needs_you', 'Needs you'), lane('working', 'Working'), lane('done', 'Done')];
}
