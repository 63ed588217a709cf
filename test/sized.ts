/** A number of inputs, bytes or steps: in `npm run test:all` all of them, and otherwise as few as keep the promise. */
export function sized(few: number, all: number): number {
  return process.env['SLUICE_ALL_CASES'] === 'yes' ? all : few;
}
