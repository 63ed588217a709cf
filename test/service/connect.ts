import {
  createFileRegistry,
  create,
  fromBinary,
  toJson,
  type DescMethodUnary,
  type FileRegistry,
  type JsonObject,
  type MessageInitShape,
  type DescMessage,
} from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema, type DescriptorProto } from '@bufbuild/protobuf/wkt';
import { createGrpcTransport } from '@connectrpc/connect-node';
import type { Transport } from '@connectrpc/connect';
import { loadSync } from '@grpc/proto-loader';
import { fileURLToPath } from 'node:url';
import { fullTypeName } from './type-name.ts';

/** An answer in the JSON of protocol buffers, and the fields of its response. */
export interface Answer {
  readonly message: JsonObject;
  readonly header: Headers;
  readonly trailer: Headers;
}

const FILES = ['rls.proto', 'health.proto'].map((name) => filesOf(name));

/**
 * A client of connect-node, with the transport of gRPC: another implementation of HTTP/2 framing, of messages and of
 * statuses than grpc-js. Messages are written and read by the definitions of the protocol, as JSON.
 */
export class ConnectClient {
  readonly #transport: Transport;

  constructor(port: number | undefined) {
    this.#transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${port}` });
  }

  /**
   * Calls a method of a service.
   *
   * @param as - The name under which it is called, if it is another one.
   * @throws {ConnectError} If the call ends with a status.
   */
  async call(path: string, input: object, { as }: { readonly as?: string } = {}): Promise<Answer> {
    const { method, registry } = methodOf(path);
    const called = as === undefined ? method : { ...method, name: as };
    const message = create(method.input, input as MessageInitShape<DescMessage>);
    const answer = await this.#transport.unary(called, undefined, 5000, undefined, message);
    return {
      message: toJson(method.output, answer.message, { registry }) as JsonObject,
      header: answer.header,
      trailer: answer.trailer,
    };
  }
}

/** @param path - As `grpc.health.v1.Health/Check`. */
function methodOf(path: string): { readonly method: DescMethodUnary; readonly registry: FileRegistry } {
  const [service = '', name] = path.split('/');
  for (const registry of FILES) {
    const method = registry.getService(service)?.methods.find((each) => each.name === name);
    if (method?.methodKind === 'unary') return { method: method as DescMethodUnary, registry };
  }
  throw new Error(`There is no method ${path}.`);
}

function filesOf(name: string): FileRegistry {
  const path = fileURLToPath(new URL(`proto/${name}`, import.meta.url));
  const [first] = Object.values(loadSync(path, { keepCase: true })).flatMap((each) =>
    'fileDescriptorProtos' in each ? [each.fileDescriptorProtos as readonly Buffer[]] : [],
  );
  const files = first!.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
  const types = new Set(files.flatMap((file) => typesIn(file.package, file)));
  const full = (type: string, scope: string): string => `.${fullTypeName(type, scope, (each) => types.has(each))}`;
  for (const file of files) {
    for (const message of file.messageType) nameTypes(message, file.package, full);
    for (const method of file.service.flatMap((service) => service.method)) {
      method.inputType = full(method.inputType, file.package);
      method.outputType = full(method.outputType, file.package);
    }
  }
  // Those of Google are used by the others.
  const order = files.toSorted((one, other) => Number(isGoogle(other)) - Number(isGoogle(one)));
  return createFileRegistry(create(FileDescriptorSetSchema, { file: order }));
}

interface Nesting {
  readonly messageType?: readonly DescriptorProto[];
  readonly nestedType?: readonly DescriptorProto[];
  readonly enumType: readonly { readonly name: string }[];
}

function typesIn(scope: string, { messageType = [], nestedType = [], enumType }: Nesting): readonly string[] {
  const messages = [...messageType, ...nestedType];
  const names = [...messages, ...enumType].map(({ name }) => `${scope}.${name}`);
  return [...names, ...messages.flatMap((message) => typesIn(`${scope}.${message.name}`, message))];
}

/** Makes the names of types absolute, and adds the names of fields in JSON, as a registry needs them. */
function nameTypes(message: DescriptorProto, scope: string, full: (type: string, scope: string) => string): void {
  const name = `${scope}.${message.name}`;
  for (const field of message.field) {
    if (field.typeName !== '') field.typeName = full(field.typeName, name);
    field.jsonName = field.name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  }
  for (const nested of message.nestedType) nameTypes(nested, name, full);
}

function isGoogle(file: { readonly package: string }): boolean {
  return file.package.startsWith('google.');
}
