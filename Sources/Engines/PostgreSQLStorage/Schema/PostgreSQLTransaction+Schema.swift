#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage

    // The schema, as a write changes it.
    extension PostgreSQLTransaction {
        func replaceSchema(by wanted: Schema, who: String, difference: [String]) throws {
            let stored = try wholeSchema()
            let former = stored.at(now)
            var made = wanted
            made.earlierTypes = former.earlierTypes.filter { wanted.types[$0.key] == nil }
            for (name, type) in former.types where wanted.types[name] == nil {
                made.earlierTypes[name] = type.number
            }
            for name in wanted.types.keys {
                // A type of that name may have been before: it gets its number back.
                made.types[name]?.number =
                    try former.number(of: name) ?? group.take(\.type)
            }
            for role in wanted.roles.keys {
                made.roles[role] = try former.roles[role] ?? group.take(\.role)
            }
            made.version = former.version + 1
            if wanted.leaving != stored.schema.leaving {
                job.statements += SchemaChange.queries(
                    store, holding: wanted.leaving, until: stored.heldUntil)
            }
            job.statements += SchemaChange.queries(store, made)
            job.statements.append(
                Query(
                    """
                    INSERT INTO schema_changes (store, number, made_at, made_by, difference)
                    VALUES ($1, $2, $3, $4, $5)
                    """, .number(store), .number(Int64(made.version)), .number(now), .text(who),
                    .text(difference.joined(separator: "\n"))))
            try keep(made, until: stored.heldUntil)
            for (name, type) in former.types {
                try dropIndexes(type, for: wanted.types[name])
            }
        }

        func hold(_ parts: Schema.Parts, until moment: Milliseconds) throws {
            var made = try wholeSchema().schema
            made.leaving = parts
            job.statements += SchemaChange.queries(store, holding: parts, until: moment)
            try keep(made, until: moment)
        }

        private func keep(_ made: Schema, until moment: Milliseconds) throws {
            job.schema = StoreFacts.KnownSchema(
                revision: try group.moveSchema(), schema: made, heldUntil: moment)
        }

        func assign(_ roles: Set<Int64>, to user: UserRecordName) throws {
            job.statements += [
                Query(
                    "DELETE FROM assigned_roles WHERE store = $1 AND user_record_name = $2",
                    .number(store), .text(user.text)),
                Query(
                    """
                    INSERT INTO assigned_roles (store, user_record_name, role)
                    SELECT $1, $2, role FROM unnest($3::bigint[]) AS given (role)
                    """, .number(store), .text(user.text), .numbers(roles.sorted())),
            ]
        }
    }
#endif
