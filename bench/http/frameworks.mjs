/** @type {Readonly<Record<string, () => Promise<{ framework: import('./framework.ts').Framework }>>>} */
const MODULES = {
  Express: () => import('./express.mjs'),
  Koa: () => import('./koa.mjs'),
  Fastify: () => import('./fastify.mjs'),
};

export const FRAMEWORKS = Object.keys(MODULES);

/** @param {string} name */
export async function frameworkNamed(name) {
  const loaded = await MODULES[name]?.();
  if (loaded === undefined) throw new Error(`There is no framework named ${name}.`);
  return loaded.framework;
}
