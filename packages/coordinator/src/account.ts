/** The ledger account that an item's requests are charged to. */
export function accountOf(itemId: string): string {
  return `item:${itemId}`;
}
