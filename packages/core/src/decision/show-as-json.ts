/** Lets `console.log` show the instances of a class as their JSON: with what is computed when it is read. */
export function showAsJson(prototype: { toJSON(): object }): void {
  Object.defineProperty(prototype, Symbol.for('nodejs.util.inspect.custom'), {
    value(this: { toJSON(): object }): object {
      return this.toJSON();
    },
  });
}
