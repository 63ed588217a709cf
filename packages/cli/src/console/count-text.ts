/** Returns a count for people: `12,345`. */
export function countText(value: number): string {
  return value.toLocaleString('en');
}
