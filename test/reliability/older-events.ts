/** Events and their versions as the tables were before version 6: texts where there are short integers now. */

/** A SELECT with the columns of the older table, from the present one in `schema`; undefined for a table that stayed the same. */
export function selectAsBefore6(table: string, schema = 'main'): string | undefined {
  if (table !== 'events' && table !== 'eventVersions') return undefined;
  return `SELECT "event".*, "customer"."orgId", "customer"."id" AS "customerId", "contract"."id" AS "contractId",
      "name"."name" AS "eventName" FROM "${schema}"."${table}" AS "event"
    JOIN "${schema}"."customers" AS "customer" ON "customer"."seq" = "event"."customerSeq"
    JOIN "${schema}"."eventNames" AS "name" ON "name"."id" = "event"."nameId"
    LEFT JOIN "${schema}"."contracts" AS "contract" ON "contract"."seq" = "event"."contractSeq"`;
}
