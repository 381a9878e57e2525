extension RowKind {
    /// The row of what a store knows of itself, with the numbers that it gave out last.
    package static let ofStoreItself = "store"
    /// The current versions of records and their tombstones, with the texts that were saved.
    package static let ofRecords = "records"
    /// When records were deleted whose current version is a tombstone.
    package static let ofTombstones = "tombstones"
    /// The queue of work, without what an engine left for itself.
    package static let ofWork = "work"

    /// The kinds of a store's rows, each behind those that it refers to.
    package static let store = itself + zones + schema + records + shares + assets + notices

    private static let itself = [
        RowKind(
            ofStoreItself, key: "",
            """
            incarnation last_position schema_revision life_count subscription_revision token_key:b name:b \
            owners zones records roles work shares destinations outbox
            """),
        RowKind("incarnations", key: "number", "last_position ended_at"),
    ]

    private static let zones = [
        RowKind("owners", key: "id", "record_name:t used_bytes whole_after"),
        RowKind(
            "zones", key: "id",
            """
            owner name:t created changed whole_after record_count body_bytes asset_bytes deleted_at \
            is_purged
            """),
        RowKind("client_tokens", key: "zone user_record_name:t device:t", "data:b set_at"),
    ]

    private static let schema = [
        RowKind("record_types", key: "id", "name:t is_removed"),
        RowKind("fields", key: "record_type name:t", "value_type indexes preferred"),
        RowKind("system_fields", key: "record_type name:t", "indexes"),
        RowKind("roles", key: "id", "name:t"),
        RowKind("permissions", key: "record_type role:t", "granted"),
        RowKind("assigned_roles", key: "user_record_name:t role", ""),
        RowKind("schema_changes", key: "number", "made_at made_by:t difference:t"),
        RowKind("held_parts", key: "record_type:t field:t", "held_until"),
    ]

    private static let records = [
        RowKind(ofRecords, key: "zone position", "record record_type flags name:t body:b"),
        RowKind(ofTombstones, key: "deleted_at zone position", ""),
        RowKind("links", key: "target_zone target_name:t kind source", ""),
    ]

    private static let shares = [
        RowKind(
            "shares", key: "id",
            """
            zone record root public_permission created ended ended_at allows_requests requests_told_at
            """),
        RowKind("short_guids", key: "value:t", "record"),
        RowKind(
            "participants", key: "share id:t",
            "user_record_name:t address:t role permission status is_approved_requester"),
        RowKind("access_requests", key: "id", "share user_record_name:t made_at state"),
        RowKind(
            "memberships", key: "share position", "record version record_type entered left left_at"),
        RowKind("current_memberships", key: "record", "share position"),
        RowKind("share_work_marks", key: "share record", "since"),
        RowKind(
            "grants", key: "viewer:t share granted", "zone permission revoked revoked_at changed"),
        RowKind(
            "views", key: "viewer:t zone",
            "since ended ended_at shares_granted changed whole_after"),
        RowKind("viewers", key: "name:t", "whole_after"),
    ]

    private static let assets = [
        RowKind("asset_files", key: "digest:b", "bytes references_held unused_since"),
        RowKind("asset_uses", key: "record digest:b", ""),
        RowKind("asset_receipts", key: "id:b", "digest:b identity:b expires"),
    ]

    private static let notices = [
        RowKind("followers", key: "name:t", "position"),
        RowKind("previous_version_needs", key: "follower:t scope number record_type", ""),
        RowKind(
            "changes", key: "position",
            """
            kind zone record record_type was_alive person:t previous_position previous_type \
            previous_flags previous_body:b author:t device:t trace:t
            """),
        RowKind(
            "subscriptions", key: "user_record_name:t scope name:t",
            """
            kind record_type:t zone:t fires_on fires_once query:b notification_info:b since \
            match_field:t match_value:b
            """),
        RowKind(
            "destinations", key: "id",
            """
            kind key:b user_record_name:t device:t address:b session:b made_at used_at badge failures \
            due_at
            """),
        RowKind(
            "outbox", key: "id",
            """
            destination identifier:t scope zone record_type is_own merge_key:b collapse_id:t \
            payload:b made_at trace:t
            """),
        RowKind(
            "dead_letters", key: "id",
            """
            destination identifier:t scope zone record_type is_own collapse_id:t payload:b made_at \
            trace:t reason:t died_at
            """),
        RowKind(ofWork, key: "id", "kind subject item name:t cursor failures due_at"),
    ]
}
