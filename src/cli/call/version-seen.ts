/**
 * The version that a change is for, if the operation takes part in versions. It is read before anybody is asked, so that a
 * change made meanwhile is refused rather than lost, or applied to what is at the same index now (semantics 10).
 */

import { BillingError } from '../../errors.ts';
import type { ErrorKind } from '../../errors.ts';
import { loadOutline, loadOutlines, roomOf } from '../../operations/index.ts';
import type { OperationName } from '../../operations/index.ts';
import { pathParameters } from '../../operations/operation.ts';
import type { CallInput, OperationFacts } from '../../operations/operation.ts';
import { reading } from '../session/open-session.ts';
import type { OpenBilling, Session } from '../session/session.ts';
import type { Target } from '../target/target.ts';

/** An addition touches nothing that somebody else may have changed. */
const changing: ReadonlySet<string | undefined> = new Set(['PATCH', 'PUT', 'DELETE']);

/** After these errors the change itself gives the better answer, or is possible without a read. */
const ignored: ReadonlySet<ErrorKind> = new Set<ErrorKind>(['notFound', 'forbidden', 'notOffered']);

/** The input of a versioned operation with the version of what it changes; unchanged if one was given or there is none. */
export async function withVersionSeen(
  name: OperationName,
  input: CallInput,
  { session, target }: { readonly session: Session; readonly target: Target },
): Promise<CallInput> {
  const operation = await loadOutline(name);
  if (input.ifMatch !== undefined || !changing.has(operation.route?.method)) return input;
  const read = readingOf(operation, await loadOutlines(roomOf(name)));
  if (read === undefined) return input;
  const names = pathParameters(read.route?.path ?? '');
  const params = Object.fromEntries(Object.entries(input.params ?? {}).filter(([each]) => names.includes(each)));
  const seen = async ({ billing }: OpenBilling) => {
    try {
      const { etag } = await billing.call(read.name as OperationName, { params });
      return etag === undefined ? input : { ...input, ifMatch: etag };
    } catch (error) {
      if (error instanceof BillingError && ignored.has(error.kind)) return input;
      throw error;
    }
  };
  // Nobody has agreed to anything yet, not even to creating a database.
  return await reading(session, target, seen, { isRehearsal: true });
}

/** The operation that reads the versions of a room: a versioned GET whose path begins the path of the change. */
function readingOf({ route }: OperationFacts, room: readonly OperationFacts[]): OperationFacts | undefined {
  return room.find(
    (each) =>
      each.versioned === true && each.route?.method === 'GET' && route?.path.startsWith(each.route.path) === true,
  );
}
