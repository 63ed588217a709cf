// The sources are for this clone alone: a package that is packed or published does not contain them.
module.exports = {
  hooks: {
    beforePacking(manifest) {
      const isTarget = (target) => typeof target === 'object';
      const published = ([path, target]) => {
        if (!isTarget(target)) return [path, target];
        const { '@sluice/source': _, ...rest } = target;
        return [path, rest];
      };
      return { ...manifest, exports: Object.fromEntries(Object.entries(manifest.exports).map(published)) };
    },
  },
};
