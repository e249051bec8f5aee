/** Makes ids in the usual form, the same in every run: counted from the one after `count`. */
export function countedIds(count = 0): () => string {
  let last = count;
  return () => {
    last += 1;
    return `01900000-0000-7000-8000-${last.toString(16).padStart(12, '0')}`;
  };
}
