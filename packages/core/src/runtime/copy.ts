declare const SLUICE_VERSION: string | undefined;

/** The version of this copy of the package, which its build writes here. */
export const VERSION: string = typeof SLUICE_VERSION === 'string' ? SLUICE_VERSION : 'source';

/** The folder from which this copy of the package was loaded. */
export const HERE: string = placeOf(import.meta.url);

/** Returns the folder of a copy of the package, from the URL of this module or of a bundle. Some bundles have no URL. */
export function placeOf(url: string | undefined): string {
  return url?.replace(/(runtime\/)?[^/]*$/, '') ?? 'a bundle';
}
