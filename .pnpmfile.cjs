// The sources are for this clone alone: a package that is packed or published does not contain them.
module.exports = { hooks: { beforePacking } };

/** @param {{ exports: Record<string, string | Record<string, unknown>> }} manifest */
function beforePacking(manifest) {
  const published = Object.entries(manifest.exports).map(([path, target]) => [path, withoutSource(target)]);
  return { ...manifest, exports: Object.fromEntries(published) };
}

/** @param {string | Record<string, unknown>} target */
function withoutSource(target) {
  if (typeof target === 'string') return target;
  const { '@sluice/source': _source, ...others } = target;
  return others;
}
