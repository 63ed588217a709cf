import { execFileSync, spawnSync } from 'node:child_process';
import { packedManifest } from './tarball-checks.mjs';

const shell = process.platform === 'win32';

/**
 * Publishes tarballs that are not on npm yet, so that a release that was broken off can be repeated. Each comes after those
 * that it depends on: whoever installs it meanwhile gets all of it.
 *
 * @param {readonly string[]} paths
 */
export function publish(paths) {
  for (const path of inOrder(paths)) {
    const { name, version } = packedManifest(path);
    if (isPublished(name, version)) console.log(`${name}@${version} is on npm already`);
    else execFileSync('npm', ['publish', path, '--access', 'public'], { stdio: 'inherit', shell });
  }
}

/**
 * @param {readonly string[]} paths of tarballs
 * @returns {string[]} each after those that it depends on
 */
export function inOrder(paths) {
  const left = new Map(paths.map((path) => [packedManifest(path).name, path]));
  /** @type {string[]} */
  const ordered = [];
  /** @param {string} name */
  const add = (name) => {
    const path = left.get(name);
    if (path === undefined) return;
    left.delete(name);
    const { dependencies, peerDependencies } = packedManifest(path);
    for (const each of Object.keys({ ...dependencies, ...peerDependencies })) add(each);
    ordered.push(path);
  };
  for (const path of paths) add(packedManifest(path).name);
  return ordered;
}

/** @param {string} name @param {string} version */
function isPublished(name, version) {
  const { stdout } = spawnSync('npm', ['view', `${name}@${version}`, 'version'], { encoding: 'utf8', shell });
  return stdout.trim() === version;
}
