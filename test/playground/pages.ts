import { build } from 'esbuild';
import { fileURLToPath } from 'node:url';

const site = new URL('../../site/', import.meta.url);

/** The files of a bundle by their extension. */
export async function bundleOf(entry: string | URL): Promise<{ readonly js: Uint8Array; readonly css: Uint8Array }> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(entry, site))],
    bundle: true,
    minify: true,
    write: false,
    outdir: 'out',
    format: 'esm',
    platform: 'browser',
    conditions: ['@sluice/source'],
    target: 'es2022',
    logLevel: 'silent',
  });
  const contents = (extension: string): Uint8Array =>
    outputFiles.find(({ path }) => path.endsWith(extension))?.contents ?? new Uint8Array();
  return { js: contents('.js'), css: contents('.css') };
}

/** A page with the playground alone, as the page of the site mounts it. */
export const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <title>Playground</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="/index.css" />
    <style>
      body { margin: 16px; }
      .dark body { background: #0d1117; color: #e6edf3; }
    </style>
    <script>
      if (matchMedia('(prefers-color-scheme: dark)').matches) document.documentElement.classList.add('dark');
    </script>
  </head>
  <body>
    <main>
      <h1>Playground</h1>
      <div id="place"></div>
    </main>
    <script type="module">
      import { mount } from '/index.js';
      globalThis.end = mount(document.getElementById('place'));
    </script>
  </body>
</html>
`;
