import { type AddressInfo, connect, createServer as createPlainServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

/** Requests that the front looks at: for messages and their offsets, and those by which a client is let in. */
const [FETCH, LIST_OFFSETS, SASL_HANDSHAKE, API_VERSIONS, SASL_AUTHENTICATE] = [1, 2, 17, 18, 36] as const;
const SASL_AUTHENTICATION_FAILED = 58;
/** As brokers are set: a larger one ends the connection. */
const LARGEST_REQUEST = 100 * 1024 * 1024;

export interface KafkaFrontInput {
  /** A cluster of one broker: what it says of its address is replaced by that of the front. */
  broker: string;
  tls?: { key: string; cert: string };
  /** Who is let in, by the mechanism PLAIN. Brokers of tests know no credentials. */
  user?: { username: string; password: string };
}

/** A server in front of a broker of the tests, with TLS, credentials, or the topics of another broker. */
export class KafkaFront {
  readonly #input: KafkaFrontInput;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Where requests for messages and their offsets go from now on: as if the topics had been made anew there. */
  topicsOf: string | undefined;

  private constructor(input: KafkaFrontInput) {
    this.#input = input;
    const serve = (socket: Socket) => void this.#serve(socket);
    this.#server = input.tls ? createTlsServer(input.tls, serve) : createPlainServer(serve);
    // Who does not trust it hangs up.
    this.#server.on('tlsClientError', () => {});
  }

  static async start(input: KafkaFrontInput): Promise<KafkaFront> {
    const front = new KafkaFront(input);
    await new Promise<void>((resolve) => front.#server.listen(0, '127.0.0.1', resolve));
    return front;
  }

  get #port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #serve(client: Socket): void {
    this.#sockets.add(client);
    const behind = new Map<string, Socket>();
    const end = () => {
      for (const socket of [client, ...behind.values()]) socket.destroy();
    };
    client.on('error', end).on('close', end);
    /** Requests for the versions of a broker, by their number. */
    const asksForVersions = new Set<number>();
    const brokerAt = (address: string): Socket => {
      const known = behind.get(address);
      if (known) return known;
      const [host, port] = [address.slice(0, address.lastIndexOf(':')), portOf(address)];
      const socket = connect(port, host).on('error', end).on('close', end);
      behind.set(address, socket);
      eachFrame(socket, (frame) => {
        const answer = asksForVersions.delete(frame.readInt32BE(0)) ? this.#withSasl(frame) : frame;
        client.write(framed(this.#withOwnAddress(answer, address)));
      });
      return socket;
    };
    eachFrame(client, (request) => {
      const [api, number] = [request.readInt16BE(0), request.readInt32BE(4)];
      if (api === SASL_HANDSHAKE) client.write(framed(int32(number), int16(0), int32(1), text('PLAIN')));
      else if (api === SASL_AUTHENTICATE) client.write(framed(int32(number), this.#letIn(request)));
      else {
        if (api === API_VERSIONS) asksForVersions.add(number);
        const isOfTopics = api === FETCH || api === LIST_OFFSETS;
        const address = (isOfTopics ? this.topicsOf : undefined) ?? this.#input.broker;
        brokerAt(address).write(framed(request));
      }
    });
  }

  #letIn(request: Buffer): Buffer {
    const { username, password } = this.#input.user!;
    const isKnown = request.includes(`\0${username}\0${password}`);
    if (isKnown) return Buffer.concat([int16(0), int16(-1), int32(0)]);
    return Buffer.concat([int16(SASL_AUTHENTICATION_FAILED), text(`refused: ${request.toString('latin1')}`), int32(0)]);
  }

  /** What a broker can do, and that it can be asked for the means by which a client is let in. */
  #withSasl(answer: Buffer): Buffer {
    if (!this.#input.user) return answer;
    const count = answer.readInt32BE(6);
    const end = 10 + count * 6;
    const added = [SASL_HANDSHAKE, 0, 1, SASL_AUTHENTICATE, 0, 0].map(int16);
    return Buffer.concat([
      answer.subarray(0, 6),
      int32(count + 2),
      answer.subarray(10, end),
      ...added,
      answer.subarray(end),
    ]);
  }

  /** Addresses stand in answers as a text and a number. */
  #withOwnAddress(answer: Buffer, address: string): Buffer {
    const told = Buffer.concat([text('127.0.0.1'), int32(portOf(address))]);
    const own = Buffer.concat([text('127.0.0.1'), int32(this.#port)]);
    for (let at = answer.indexOf(told); at !== -1; at = answer.indexOf(told, at + 1)) own.copy(answer, at);
    return answer;
  }
}

const portOf = (address: string): number => Number(address.slice(address.lastIndexOf(':') + 1));

const bytes = (length: number, write: (buffer: Buffer) => void): Buffer => {
  const buffer = Buffer.alloc(length);
  write(buffer);
  return buffer;
};
const int16 = (value: number) => bytes(2, (buffer) => buffer.writeInt16BE(value));
const int32 = (value: number) => bytes(4, (buffer) => buffer.writeInt32BE(value));
const text = (value: string) => Buffer.concat([int16(Buffer.byteLength(value)), Buffer.from(value)]);

function framed(...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([int32(content.length), content]);
}

/** Calls back with each request or answer, without its length. */
function eachFrame(socket: Socket, take: (frame: Buffer) => void): void {
  let received = Buffer.alloc(0);
  socket.on('data', (part) => {
    received = Buffer.concat([received, part]);
    // Such as the hello of TLS.
    if (received.length >= 4 && received.readInt32BE(0) > LARGEST_REQUEST) socket.destroy();
    while (received.length >= 4 && received.length >= 4 + received.readInt32BE(0)) {
      const end = 4 + received.readInt32BE(0);
      take(Buffer.from(received.subarray(4, end)));
      received = received.subarray(end);
    }
  });
}
