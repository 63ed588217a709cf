/**
 * Returns the full name of a type: protobufjs writes names in descriptors relative to where they are used. The innermost
 * scope that has the type is meant.
 *
 * @param scope - The full name of the message that uses it.
 */
export function fullTypeName(name: string, scope: string, isType: (fullName: string) => boolean): string {
  for (let within = scope; ; within = within.slice(0, Math.max(0, within.lastIndexOf('.')))) {
    const full = within === '' ? name.replace(/^\./, '') : `${within}.${name}`;
    if (isType(full)) return full;
    if (within === '') throw new Error(`${scope} uses the type ${name}, which is not there.`);
  }
}
