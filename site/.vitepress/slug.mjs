/**
 * The fragment of a heading as GitHub makes it, so that links within the repository lead to the same place on the site.
 *
 * @param {string} heading
 */
export function slugOf(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}
