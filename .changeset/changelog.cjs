// How `changeset version` writes the CHANGELOG of a package: the text of each change. All packages share one version, so that
// the names of those they depend on would say nothing.
module.exports = {
  getReleaseLine: async ({ summary }) => `- ${summary.trim().replaceAll('\n', '\n  ')}`,
  getDependencyReleaseLine: async () => '',
};
