// Written by `make rules` from a test run; don't edit it.
extension RuleEvidence {
    static let builtInNDJSON = #"""
        {"rule":"altcraft/A1","test":"PatchbayAltcraftTests.CredentialTests/`a role token wins over the contact's token`()"}
        {"rule":"altcraft/A2","test":"PatchbayAltcraftTests.CredentialTests/`the claim is text or an object, and its matching mode passes unchanged`()"}
        {"rule":"altcraft/A3","test":"PatchbayAltcraftTests.CredentialTests/`a credential that can't be used lets the operation wait`(_:_:_:)"}
        {"rule":"altcraft/A4","test":"PatchbayAltcraftTests.CredentialTests/`a credential that can't be used lets the operation wait`(_:_:_:)"}
        {"rule":"altcraft/A5","test":"PatchbayAltcraftTests.CredentialTests/`a credential that can't be used lets the operation wait`(_:_:_:)"}
        {"rule":"altcraft/A6","test":"PatchbayAltcraftTests.CredentialTests/`a credential that can't be used lets the operation wait`(_:_:_:)"}
        {"rule":"altcraft/A7","test":"PatchbayAltcraftTests.CredentialTests/`the claim is text or an object, and its matching mode passes unchanged`()"}
        {"rule":"altcraft/A8","test":"PatchbayAltcraftTests.CredentialTests/`a role token wins over the contact's token`()"}
        {"rule":"altcraft/A9","test":"PatchbayAltcraftTests.CredentialTests/`a credential that can't be used lets the operation wait`(_:_:_:)"}
        {"rule":"altcraft/B1","test":"PatchbayAltcraftTests.RequestTests/`a moment before 1970 is refused`()"}
        {"rule":"altcraft/B1","test":"PatchbayAltcraftTests.RequestTests/`the three calls differ in the status alone`(_:)"}
        {"rule":"altcraft/B2","test":"PatchbayAltcraftTests.RequestTests/`the three calls differ in the status alone`(_:)"}
        {"rule":"altcraft/B3","test":"PatchbayAltcraftTests.RequestTests/`the three calls differ in the status alone`(_:)"}
        {"rule":"altcraft/B3","test":"PatchbayAltcraftTests.SubscriptionTests/`what has no place is refused, all at once`()"}
        {"rule":"altcraft/B4","test":"PatchbayAltcraftTests.RequestTests/`the three calls differ in the status alone`(_:)"}
        {"rule":"altcraft/B5","test":"PatchbayAltcraftTests.RequestTests/`the three calls differ in the status alone`(_:)"}
        {"rule":"altcraft/B5","test":"PatchbayAltcraftTests.SubscriptionTests/`a topic is a category, and the subscription stays as it is`()"}
        {"rule":"altcraft/B6","test":"PatchbayAltcraftTests.RequestTests/`the six parameters travel, and the caller's fields win`()"}
        {"rule":"altcraft/B7","test":"PatchbayAltcraftTests.RequestTests/`the three calls differ in the status alone`(_:)"}
        {"rule":"altcraft/B8","test":"PatchbayAltcraftTests.SubscriptionTests/`a token that changed is told before anything else uses it`()"}
        {"rule":"altcraft/B9","test":"PatchbayAltcraftTests.RequestTests/`a change of person releases the suspension first`()"}
        {"rule":"altcraft/B10","test":"PatchbayAltcraftTests.ProfileTests/`attributes become profile fields of any JSON`()"}
        {"rule":"altcraft/B10","test":"PatchbayAltcraftTests.ProfileTests/`options are checked all at once`()"}
        {"rule":"altcraft/B11","test":"PatchbayAltcraftTests.SubscriptionTests/`a topic is a category, and the subscription stays as it is`()"}
        {"rule":"altcraft/B12","test":"PatchbayAltcraftTests.SubscriptionTests/`a topic is a category, and the subscription stays as it is`()"}
        {"rule":"altcraft/E1","test":"PatchbayAltcraftTests.SubscriptionTests/`leaving suspends under the token that the vendor knows`()"}
        {"rule":"altcraft/E2","test":"PatchbayAltcraftTests.ProfileTests/`consent is kept, and erasing names the step that a person must do`()"}
        {"rule":"altcraft/E3","test":"PatchbayAltcraftTests.ProfileTests/`consent is kept, and erasing names the step that a person must do`()"}
        {"rule":"altcraft/E3","test":"PatchbayAltcraftTests.RecordTests/`nobody is subscribed who did not say so`()"}
        {"rule":"altcraft/E4","test":"PatchbayAltcraftTests.ProfileTests/`identity stands in the credential; fields are a setting`()"}
        {"rule":"altcraft/F1","test":"PatchbayAltcraftTests.ProfileTests/`attributes become profile fields of any JSON`()"}
        {"rule":"altcraft/F1","test":"PatchbayAltcraftTests.ProfileTests/`what does not fit is left out, and the rest goes`(_:_:_:)"}
        {"rule":"altcraft/F1","test":"PatchbayAltcraftTests.RequestTests/`the six parameters travel, and the caller's fields win`()"}
        {"rule":"altcraft/F2","test":"PatchbayAltcraftTests.ProfileTests/`options are checked all at once`()"}
        {"rule":"altcraft/F2","test":"PatchbayAltcraftTests.RequestTests/`the six parameters travel, and the caller's fields win`()"}
        {"rule":"altcraft/F2","test":"PatchbayAltcraftTests.SubscriptionTests/`what has no place is refused, all at once`()"}
        {"rule":"altcraft/F3","test":"PatchbayAltcraftTests.RequestTests/`facts of the device are subscription fields`()"}
        {"rule":"altcraft/F4","test":"PatchbayAltcraftTests.RequestTests/`the six parameters travel, and the caller's fields win`()"}
        {"rule":"altcraft/F5","test":"PatchbayAltcraftTests.RequestTests/`facts of the device are subscription fields`()"}
        {"rule":"altcraft/F6","test":"PatchbayAltcraftTests.RequestTests/`facts of the device are subscription fields`()"}
        {"rule":"altcraft/F7","test":"PatchbayAltcraftTests.ProfileTests/`a change is written in its field's form`(_:_:_:)"}
        {"rule":"altcraft/F8","test":"PatchbayAltcraftTests.ProfileTests/`a change is written in its field's form`(_:_:_:)"}
        {"rule":"altcraft/F9","test":"PatchbayAltcraftTests.ProfileTests/`a change is written in its field's form`(_:_:_:)"}
        {"rule":"altcraft/F9","test":"PatchbayAltcraftTests.ProfileTests/`tags are deleted first, then added`()"}
        {"rule":"altcraft/F9","test":"PatchbayAltcraftTests.ProfileTests/`what does not fit is left out, and the rest goes`(_:_:_:)"}
        {"rule":"altcraft/F10","test":"PatchbayAltcraftTests.ProfileTests/`what does not fit is left out, and the rest goes`(_:_:_:)"}
        {"rule":"altcraft/F11","test":"PatchbayAltcraftTests.ProfileTests/`a change is written in its field's form`(_:_:_:)"}
        {"rule":"altcraft/F11","test":"PatchbayAltcraftTests.ProfileTests/`what does not fit is left out, and the rest goes`(_:_:_:)"}
        {"rule":"altcraft/F12","test":"PatchbayAltcraftTests.ProfileTests/`a change is written in its field's form`(_:_:_:)"}
        {"rule":"altcraft/F12","test":"PatchbayAltcraftTests.ProfileTests/`what does not fit is left out, and the rest goes`(_:_:_:)"}
        {"rule":"altcraft/F12","test":"PatchbayAltcraftTests.RecordTests/`what has no home is named`()"}
        {"rule":"altcraft/F13","test":"PatchbayAltcraftTests.ProfileTests/`a change is written in its field's form`(_:_:_:)"}
        {"rule":"altcraft/F13","test":"PatchbayAltcraftTests.ProfileTests/`what does not fit is left out, and the rest goes`(_:_:_:)"}
        {"rule":"altcraft/F14","test":"PatchbayAltcraftTests.ProfileTests/`tags are deleted first, then added`()"}
        {"rule":"altcraft/F14","test":"PatchbayAltcraftTests.RecordTests/`what has no home is named`()"}
        {"rule":"altcraft/F15","test":"PatchbayAltcraftTests.ReplyTests/`a known complaint names the field and its place`()"}
        {"rule":"altcraft/F16","test":"PatchbayAltcraftTests.ReplyTests/`a known complaint names the field and its place`()"}
        {"rule":"altcraft/F17","test":"PatchbayAltcraftTests.ReplyTests/`a known complaint names the field and its place`()"}
        {"rule":"altcraft/F18","test":"PatchbayAltcraftTests.ProfileTests/`options are checked all at once`()"}
        {"rule":"altcraft/F18","test":"PatchbayAltcraftTests.RequestTests/`the six parameters travel, and the caller's fields win`()"}
        {"rule":"altcraft/F19","test":"PatchbayAltcraftTests.ProfileTests/`a change is written in its field's form`(_:_:_:)"}
        {"rule":"altcraft/F19","test":"PatchbayAltcraftTests.ProfileTests/`what does not fit is left out, and the rest goes`(_:_:_:)"}
        {"rule":"altcraft/F19","test":"PatchbayAltcraftTests.RecordTests/`a line finds its profile by the chosen matching`()"}
        {"rule":"altcraft/F20","test":"PatchbayAltcraftTests.ProfileTests/`attributes become profile fields of any JSON`()"}
        {"rule":"altcraft/F20","test":"PatchbayAltcraftTests.RecordTests/`what has no home is named`()"}
        {"rule":"altcraft/H1","test":"PatchbayAltcraftTests.RequestTests/`the three calls differ in the status alone`(_:)"}
        {"rule":"altcraft/H2","test":"PatchbayAltcraftTests.RequestTests/`each request of an operation has an id of its own, the same on every repeat`()"}
        {"rule":"altcraft/H2","test":"PatchbayAltcraftTests.RequestTests/`the three calls differ in the status alone`(_:)"}
        {"rule":"altcraft/H3","test":"PatchbayAltcraftTests.RequestTests/`the three calls differ in the status alone`(_:)"}
        {"rule":"altcraft/L1","test":"PatchbayAltcraftTests.LogInTests/`a first log-in suspends the visitor and subscribes the person`()"}
        {"rule":"altcraft/L1","test":"PatchbayAltcraftTests.RequestTests/`a change of person releases the suspension first`()"}
        {"rule":"altcraft/L2","test":"PatchbayAltcraftTests.LogInTests/`a first log-in suspends the visitor and subscribes the person`()"}
        {"rule":"altcraft/L3","test":"PatchbayAltcraftTests.LogInTests/`without a clear answer nobody is subscribed`()"}
        {"rule":"altcraft/L3","test":"PatchbayAltcraftTests.ReplyTests/`a change of person and a question are never repeated by themselves`()"}
        {"rule":"altcraft/L4","test":"PatchbayAltcraftTests.CredentialTests/`with a role token nobody logs in`()"}
        {"rule":"altcraft/M1","test":"PatchbayAltcraftTests.RequestTests/`an event that can't be sent is refused with all its faults`()"}
        {"rule":"altcraft/M2","test":"PatchbayAltcraftTests.RequestTests/`a custom event is a form in a fixed order`()"}
        {"rule":"altcraft/M3","test":"PatchbayAltcraftTests.RequestTests/`a custom event is a form in a fixed order`()"}
        {"rule":"altcraft/M3","test":"PatchbayAltcraftTests.RequestTests/`an event that can't be sent is refused with all its faults`()"}
        {"rule":"altcraft/M4","test":"PatchbayAltcraftTests.RequestTests/`a custom event is a form in a fixed order`()"}
        {"rule":"altcraft/M5","test":"PatchbayAltcraftTests.RequestTests/`a custom event is a form in a fixed order`()"}
        {"rule":"altcraft/M5","test":"PatchbayAltcraftTests.RequestTests/`an event that can't be sent is refused with all its faults`()"}
        {"rule":"altcraft/M6","test":"PatchbayAltcraftTests.RequestTests/`a custom event is a form in a fixed order`()"}
        {"rule":"altcraft/M7","test":"PatchbayAltcraftTests.RequestTests/`a custom event is a form in a fixed order`()"}
        {"rule":"altcraft/M8","test":"PatchbayAltcraftTests.ProfileTests/`an event attaches a subscription of one of four forms`(_:_:)"}
        {"rule":"altcraft/M9","test":"PatchbayAltcraftTests.RequestTests/`a custom event is a form in a fixed order`()"}
        {"rule":"altcraft/P1","test":"PatchbayAltcraftTests.RequestTests/`a push is known again by its payload`()"}
        {"rule":"altcraft/P2","test":"PatchbayAltcraftTests.RequestTests/`a push event has two fields, its kind in the path and a queue of its own`()"}
        {"rule":"altcraft/P2","test":"PatchbayAltcraftTests.RequestTests/`a push is known again by its payload`()"}
        {"rule":"altcraft/P3","test":"PatchbayAltcraftTests.RequestTests/`a push event has two fields, its kind in the path and a queue of its own`()"}
        {"rule":"altcraft/P3","test":"PatchbayAltcraftTests.RequestTests/`a push is known again by its payload`()"}
        {"rule":"altcraft/P4","test":"PatchbayAltcraftTests.RequestTests/`a push event has two fields, its kind in the path and a queue of its own`()"}
        {"rule":"altcraft/P5","test":"PatchbayAltcraftTests.RequestTests/`a push event has two fields, its kind in the path and a queue of its own`()"}
        {"rule":"altcraft/Q1","test":"PatchbayAltcraftTests.RequestTests/`an address with a query keeps it`()"}
        {"rule":"altcraft/Q2","test":"PatchbayAltcraftTests.RequestTests/`the three calls differ in the status alone`(_:)"}
        {"rule":"altcraft/Q3","test":"PatchbayAltcraftTests.CredentialTests/`a role token wins over the contact's token`()"}
        {"rule":"altcraft/Q3","test":"PatchbayAltcraftTests.SubscriptionTests/`a token that changed is told before anything else uses it`()"}
        {"rule":"altcraft/Q4","test":"PatchbayAltcraftTests.RequestTests/`a change of person releases the suspension first`()"}
        {"rule":"altcraft/Q5","test":"PatchbayAltcraftTests.RequestTests/`a question names what it asks for`(_:_:)"}
        {"rule":"altcraft/Q5","test":"PatchbayAltcraftTests.RequestTests/`a question that can't be asked is refused`()"}
        {"rule":"altcraft/Q6","test":"PatchbayAltcraftTests.RequestTests/`a push event has two fields, its kind in the path and a queue of its own`()"}
        {"rule":"altcraft/Q7","test":"PatchbayAltcraftTests.RequestTests/`a custom event is a form in a fixed order`()"}
        {"rule":"altcraft/Q8","test":"PatchbayAltcraftTests.ProfileTests/`attributes become profile fields of any JSON`()"}
        {"rule":"altcraft/Q8","test":"PatchbayAltcraftTests.ProfileTests/`profile fields in a subscription request never change what the person wants`()"}
        {"rule":"altcraft/Q9","test":"PatchbayAltcraftTests.RequestTests/`the three calls differ in the status alone`(_:)"}
        {"rule":"altcraft/Q10","test":"PatchbayAltcraftTests.RequestTests/`the three calls differ in the status alone`(_:)"}
        {"rule":"altcraft/R1","test":"PatchbayAltcraftTests.ReplyTests/`the status alone decides`(_:_:)"}
        {"rule":"altcraft/R2","test":"PatchbayAltcraftTests.ReplyTests/`the status alone decides`(_:_:)"}
        {"rule":"altcraft/R3","test":"PatchbayAltcraftTests.ReplyTests/`the status alone decides`(_:_:)"}
        {"rule":"altcraft/R4","test":"PatchbayAltcraftTests.ReplyTests/`the status alone decides`(_:_:)"}
        {"rule":"altcraft/R5","test":"PatchbayAltcraftTests.ReplyTests/`repeats climb a ladder that a wake restarts`()"}
        {"rule":"altcraft/R6","test":"PatchbayAltcraftTests.ReplyTests/`repeats climb a ladder that a wake restarts`()"}
        {"rule":"altcraft/R7","test":"PatchbayAltcraftTests.ReplyTests/`sixteen answers end an operation, an outage never does`()"}
        {"rule":"altcraft/R8","test":"PatchbayAltcraftTests.LogInTests/`without a clear answer nobody is subscribed`()"}
        {"rule":"altcraft/R8","test":"PatchbayAltcraftTests.ReplyTests/`a change of person and a question are never repeated by themselves`()"}
        {"rule":"altcraft/R9","test":"PatchbayAltcraftTests.ReplyTests/`an answer has types and both numbers`()"}
        {"rule":"altcraft/R10","test":"PatchbayAltcraftTests.ReplyTests/`a refused credential rejects, or parks by a setting`(_:)"}
        {"rule":"altcraft/R11","test":"PatchbayAltcraftTests.ReplyTests/`an answer has types and both numbers`()"}
        {"rule":"altcraft/R12","test":"PatchbayAltcraftTests.ReplyTests/`a lost change is repeated before a later one leaves`()"}
        {"rule":"altcraft/T1","test":"PatchbayAltcraftTests.SubscriptionTests/`a token that changed is told before anything else uses it`()"}
        {"rule":"altcraft/T2","test":"PatchbayAltcraftTests.SubscriptionTests/`a token that changed is told before anything else uses it`()"}
        {"rule":"altcraft/T3","test":"PatchbayAltcraftTests.SubscriptionTests/`a refused token update is not repeated, and subscribing goes on`()"}
        {"rule":"altcraft/T4","test":"PatchbayAltcraftTests.SubscriptionTests/`the token of a subscription that worked is remembered, and survives storage`()"}
        {"rule":"altcraft/T5","test":"PatchbayAltcraftTests.SubscriptionTests/`subscribing needs a token and permission, leaving needs no permission`()"}
        {"rule":"altcraft/T6","test":"PatchbayAltcraftTests.RequestTests/`a question names what it asks for`(_:_:)"}
        {"rule":"altcraft/T7","test":"PatchbayAltcraftTests.RecordTests/`a push token needs a provider and the person's word`()"}
        {"rule":"altcraft/T7","test":"PatchbayAltcraftTests.RequestTests/`a question that can't be asked is refused`()"}
        {"rule":"altcraft/T7","test":"PatchbayAltcraftTests.SubscriptionTests/`platform and service make a provider`(_:_:_:)"}
        {"rule":"altcraft/T8","test":"PatchbayAltcraftTests.RequestTests/`a question that can't be asked is refused`()"}
        {"rule":"altcraft/T8","test":"PatchbayAltcraftTests.SubscriptionTests/`subscribing needs a token and permission, leaving needs no permission`()"}
        {"rule":"altcraft/T9","test":"PatchbayAltcraftTests.SubscriptionTests/`a subscribe that waits gives way to a later word`()"}
        {"rule":"altcraft/X1","test":"PatchbayAltcraftTests.RecordTests/`a line finds its profile by the chosen matching`()"}
        {"rule":"altcraft/X2","test":"PatchbayAltcraftTests.RecordTests/`a line finds its profile by the chosen matching`()"}
        {"rule":"altcraft/X3","test":"PatchbayAltcraftTests.RecordTests/`a push token needs a provider and the person's word`()"}
        {"rule":"altcraft/X3","test":"PatchbayAltcraftTests.RecordTests/`nobody is subscribed who did not say so`()"}
        {"rule":"altcraft/X4","test":"PatchbayAltcraftTests.RecordTests/`nobody is subscribed who did not say so`()"}
        {"rule":"altcraft/X5","test":"PatchbayAltcraftTests.RecordTests/`nobody is subscribed who did not say so`()"}
        {"rule":"altcraft/X6","test":"PatchbayAltcraftTests.RecordTests/`nobody is subscribed who did not say so`()"}
        {"rule":"salesforce/A1","test":"PatchbaySalesforceTests.AttributeTests/`a blank name is refused`(_:)"}
        {"rule":"salesforce/A2","test":"PatchbaySalesforceTests.AttributeTests/`names and values are trimmed, pairs sorted`()"}
        {"rule":"salesforce/A3","test":"PatchbaySalesforceTests.AttributeTests/`all 47 reserved words are refused in any case, and nothing else`()"}
        {"rule":"salesforce/A4","test":"PatchbaySalesforceTests.AttributeTests/`a name has at most 128 UTF-16 units`()"}
        {"rule":"salesforce/A6","test":"PatchbaySalesforceTests.AttributeTests/`names and values are trimmed, pairs sorted`()"}
        {"rule":"salesforce/A7","test":"PatchbaySalesforceTests.AttributeTests/`unset empties the attribute or stops sending it`(setting:pairs:)"}
        {"rule":"salesforce/A7","test":"PatchbaySalesforceTests.LifeTests/`settings are trimmed`()"}
        {"rule":"salesforce/A9","test":"PatchbaySalesforceTests.AttributeTests/`an attribute that the account does not define stays out`()"}
        {"rule":"salesforce/A10","test":"PatchbaySalesforceTests.AttributeTests/`nothing is added at the vendor`(_:)"}
        {"rule":"salesforce/A11","test":"PatchbaySalesforceTests.AttributeTests/`unset empties the attribute or stops sending it`(setting:pairs:)"}
        {"rule":"salesforce/A12","test":"PatchbaySalesforceTests.IdentityTests/`a log-in says that attributes stay with the device`()"}
        {"rule":"salesforce/A13","test":"PatchbaySalesforceTests.AttributeTests/`bad pairs are left out and the rest goes`()"}
        {"rule":"salesforce/D1","test":"PatchbaySalesforceTests.LifeTests/`reading and consent are refused`()"}
        {"rule":"salesforce/D2","test":"PatchbaySalesforceTests.LifeTests/`a device that was never registered is not registered to leave`()"}
        {"rule":"salesforce/D2","test":"PatchbaySalesforceTests.LifeTests/`a farewell is one last registration without push`()"}
        {"rule":"salesforce/D3","test":"PatchbaySalesforceTests.LifeTests/`an erase empties what a registration can empty`()"}
        {"rule":"salesforce/D3","test":"PatchbaySalesforceTests.LifeTests/`an erase of a device that nobody knows asks for the hand alone`()"}
        {"rule":"salesforce/D4","test":"PatchbaySalesforceTests.LifeTests/`reading and consent are refused`()"}
        {"rule":"salesforce/D5","test":"PatchbaySalesforceTests.TagTests/`a topic of push is a tag`()"}
        {"rule":"salesforce/E1","test":"PatchbaySalesforceTests.EventTests/`an event stands in its envelope`()"}
        {"rule":"salesforce/E2","test":"PatchbaySalesforceTests.EventTests/`a bad name is refused`(_:)"}
        {"rule":"salesforce/E3","test":"PatchbaySalesforceTests.EventTests/`bad attributes are left out and the event goes`()"}
        {"rule":"salesforce/E4","test":"PatchbaySalesforceTests.EventTests/`bad attributes are left out and the event goes`()"}
        {"rule":"salesforce/E5","test":"PatchbaySalesforceTests.EventTests/`bad attributes are left out and the event goes`()"}
        {"rule":"salesforce/E6","test":"PatchbaySalesforceTests.EventTests/`an accepted event needs a definition`()"}
        {"rule":"salesforce/E9","test":"PatchbaySalesforceTests.EventTests/`a push of its own is refused, another vendor's is foreign`()"}
        {"rule":"salesforce/E10","test":"PatchbaySalesforceTests.EventTests/`events wait for the subscriber token`()"}
        {"rule":"salesforce/E11","test":"PatchbaySalesforceTests.EventTests/`a request carries at most 1000 events`()"}
        {"rule":"salesforce/E11","test":"PatchbaySalesforceTests.EventTests/`an event stands in its envelope`()"}
        {"rule":"salesforce/E12","test":"PatchbaySalesforceTests.EventTests/`a failed event is kept and delayed, with the same id`()"}
        {"rule":"salesforce/E12","test":"PatchbaySalesforceTests.EventTests/`an accepted event needs a definition`()"}
        {"rule":"salesforce/E13","test":"PatchbaySalesforceTests.EventTests/`an event stands in its envelope`()"}
        {"rule":"salesforce/F1","test":"PatchbaySalesforceTests.RecordTests/`dialects read alike`(text:settings:)"}
        {"rule":"salesforce/F2","test":"PatchbaySalesforceTests.RecordTests/`a bad row is a record with its bytes and every reason`()"}
        {"rule":"salesforce/F2","test":"PatchbaySalesforceTests.RecordTests/`dialects read alike`(text:settings:)"}
        {"rule":"salesforce/F3","test":"PatchbaySalesforceTests.RecordTests/`a header that can't be used is refused`(text:code:)"}
        {"rule":"salesforce/F3","test":"PatchbaySalesforceTests.RecordTests/`dialects read alike`(text:settings:)"}
        {"rule":"salesforce/F4","test":"PatchbaySalesforceTests.RecordTests/`a file without data is refused`(text:code:)"}
        {"rule":"salesforce/F5","test":"PatchbaySalesforceTests.RecordTests/`a bad row is a record with its bytes and every reason`()"}
        {"rule":"salesforce/F6","test":"PatchbaySalesforceTests.RecordTests/`a bad row is a record with its bytes and every reason`()"}
        {"rule":"salesforce/F6","test":"PatchbaySalesforceTests.RecordTests/`types and columns are settings`()"}
        {"rule":"salesforce/F7","test":"PatchbaySalesforceTests.RecordTests/`a bad row is a record with its bytes and every reason`()"}
        {"rule":"salesforce/F7","test":"PatchbaySalesforceTests.RecordTests/`types and columns are settings`()"}
        {"rule":"salesforce/F8","test":"PatchbaySalesforceTests.RecordTests/`a bad row is a record with its bytes and every reason`()"}
        {"rule":"salesforce/F9","test":"PatchbaySalesforceTests.RecordTests/`the newer of two dates decides`(_:)"}
        {"rule":"salesforce/F10","test":"PatchbaySalesforceTests.RecordTests/`push columns make a device`()"}
        {"rule":"salesforce/K1","test":"PatchbaySalesforceTests.IdentityTests/`a blank contact key is refused and the old one stays`(_:)"}
        {"rule":"salesforce/K1","test":"PatchbaySalesforceTests.RecordTests/`a bad row is a record with its bytes and every reason`()"}
        {"rule":"salesforce/K2","test":"PatchbaySalesforceTests.IdentityTests/`a contact key is trimmed`()"}
        {"rule":"salesforce/K3","test":"PatchbaySalesforceTests.IdentityTests/`a log-out can't clear the contact key`()"}
        {"rule":"salesforce/K4","test":"PatchbaySalesforceTests.IdentityTests/`a placeholder is warned about`(_:)"}
        {"rule":"salesforce/K5","test":"PatchbaySalesforceTests.IdentityTests/`a setting names the kind of identifier`()"}
        {"rule":"salesforce/K6","test":"PatchbaySalesforceTests.IdentityTests/`a key after an anonymous registration may orphan a contact`()"}
        {"rule":"salesforce/K6","test":"PatchbaySalesforceTests.IdentityTests/`without a contact key the registration leaves it out`()"}
        {"rule":"salesforce/K7","test":"PatchbaySalesforceTests.IdentityTests/`a move to another contact is said, letter case counts`(_:)"}
        {"rule":"salesforce/K8","test":"PatchbaySalesforceTests.IdentityTests/`a long key is doubtful, and its text is not shown`()"}
        {"rule":"salesforce/K9","test":"PatchbaySalesforceTests.IdentityTests/`a move to another contact is said, letter case counts`(_:)"}
        {"rule":"salesforce/K10","test":"PatchbaySalesforceTests.IdentityTests/`the signed string is set, kept by a blank, removed by null`()"}
        {"rule":"salesforce/R1","test":"PatchbaySalesforceTests.LifeTests/`any 2xx is a yes`(_:)"}
        {"rule":"salesforce/R2","test":"PatchbaySalesforceTests.ScheduleTests/`Retry-After beats the delay and is capped`(seconds:due:)"}
        {"rule":"salesforce/R3","test":"PatchbaySalesforceTests.ScheduleTests/`a person who asks why it waits hears of the refused token`()"}
        {"rule":"salesforce/R4","test":"PatchbaySalesforceTests.ScheduleTests/`delays double from a minute to a day and go on for ever`()"}
        {"rule":"salesforce/R5","test":"PatchbaySalesforceTests.ScheduleTests/`after doubt nothing is suppressed`(_:)"}
        {"rule":"salesforce/R6","test":"PatchbaySalesforceTests.ScheduleTests/`delays, spacing and knowledge survive a restart`()"}
        {"rule":"salesforce/S1","test":"PatchbaySalesforceTests.ConversationTests/`an installation's first hour`()"}
        {"rule":"salesforce/S1","test":"PatchbaySalesforceTests.ScheduleTests/`the first registration leaves at once`()"}
        {"rule":"salesforce/S2","test":"PatchbaySalesforceTests.ConversationTests/`an installation's first hour`()"}
        {"rule":"salesforce/S2","test":"PatchbaySalesforceTests.ScheduleTests/`changes are gathered for a minute from the first one`()"}
        {"rule":"salesforce/S3","test":"PatchbaySalesforceTests.ConversationTests/`a registration that the process did not survive`()"}
        {"rule":"salesforce/S3","test":"PatchbaySalesforceTests.ScheduleTests/`a flush skips the gathering and not the spacing`(change:due:)"}
        {"rule":"salesforce/S3","test":"PatchbaySalesforceTests.ScheduleTests/`a new change during a retry still keeps a minute's distance`()"}
        {"rule":"salesforce/S3","test":"PatchbaySalesforceTests.ScheduleTests/`changes are gathered for a minute from the first one`()"}
        {"rule":"salesforce/S4","test":"PatchbaySalesforceTests.ConversationTests/`an installation's first hour`()"}
        {"rule":"salesforce/S4","test":"PatchbaySalesforceTests.ScheduleTests/`changes are gathered for a minute from the first one`()"}
        {"rule":"salesforce/S5","test":"PatchbaySalesforceTests.ScheduleTests/`changes are gathered for a minute from the first one`()"}
        {"rule":"salesforce/S5","test":"PatchbaySalesforceTests.ScheduleTests/`every sort of change causes a registration`(_:)"}
        {"rule":"salesforce/S6","test":"PatchbaySalesforceTests.ScheduleTests/`a tag added and removed while the first request waits sends nothing`()"}
        {"rule":"salesforce/S6","test":"PatchbaySalesforceTests.ScheduleTests/`what changes nothing is settled without a request`(_:)"}
        {"rule":"salesforce/S6","test":"PatchbaySalesforceTests.WireTests/`what changes by itself is no change`()"}
        {"rule":"salesforce/S7","test":"PatchbaySalesforceTests.ConversationTests/`a registration that the process did not survive`()"}
        {"rule":"salesforce/S7","test":"PatchbaySalesforceTests.ScheduleTests/`delays double from a minute to a day and go on for ever`()"}
        {"rule":"salesforce/S8","test":"PatchbaySalesforceTests.ConversationTests/`an installation's first hour`()"}
        {"rule":"salesforce/S8","test":"PatchbaySalesforceTests.EventTests/`a failed event is kept and delayed, with the same id`()"}
        {"rule":"salesforce/S8","test":"PatchbaySalesforceTests.ScheduleTests/`delays double from a minute to a day and go on for ever`()"}
        {"rule":"salesforce/S9","test":"PatchbaySalesforceTests.ConversationTests/`an installation's first hour`()"}
        {"rule":"salesforce/S9","test":"PatchbaySalesforceTests.ScheduleTests/`a new change during a retry still keeps a minute's distance`()"}
        {"rule":"salesforce/S9","test":"PatchbaySalesforceTests.ScheduleTests/`a new change starts the delays again`()"}
        {"rule":"salesforce/S9","test":"PatchbaySalesforceTests.ScheduleTests/`success starts the delays again`()"}
        {"rule":"salesforce/S10","test":"PatchbaySalesforceTests.ConversationTests/`a registration that the process did not survive`()"}
        {"rule":"salesforce/S10","test":"PatchbaySalesforceTests.ScheduleTests/`delays, spacing and knowledge survive a restart`()"}
        {"rule":"salesforce/S11","test":"PatchbaySalesforceTests.ConversationTests/`an installation's first hour`()"}
        {"rule":"salesforce/S11","test":"PatchbaySalesforceTests.EventTests/`Retry-After closes one endpoint, not the other`()"}
        {"rule":"salesforce/S11","test":"PatchbaySalesforceTests.ScheduleTests/`Retry-After beats the delay and is capped`(seconds:due:)"}
        {"rule":"salesforce/S11","test":"PatchbaySalesforceTests.ScheduleTests/`Retry-After of a success holds too`()"}
        {"rule":"salesforce/S12","test":"PatchbaySalesforceTests.LifeTests/`settings are trimmed`()"}
        {"rule":"salesforce/S12","test":"PatchbaySalesforceTests.ScheduleTests/`in delay mode nothing leaves before the contact key, then at once`()"}
        {"rule":"salesforce/S13","test":"PatchbaySalesforceTests.ScheduleTests/`an accepted change shows later`()"}
        {"rule":"salesforce/S14","test":"PatchbaySalesforceTests.ScheduleTests/`a change in the background is warned about, facts are not`()"}
        {"rule":"salesforce/T1","test":"PatchbaySalesforceTests.TagTests/`a blank tag is refused`(_:)"}
        {"rule":"salesforce/T2","test":"PatchbaySalesforceTests.TagTests/`tags are trimmed and sorted with the automatic ones`()"}
        {"rule":"salesforce/T3","test":"PatchbaySalesforceTests.TagTests/`tags are a set`()"}
        {"rule":"salesforce/T4","test":"PatchbaySalesforceTests.LifeTests/`settings are trimmed`()"}
        {"rule":"salesforce/T4","test":"PatchbaySalesforceTests.TagTests/`the last spelling wins`()"}
        {"rule":"salesforce/T5","test":"PatchbaySalesforceTests.TagTests/`tags are trimmed and sorted with the automatic ones`()"}
        {"rule":"salesforce/T6","test":"PatchbaySalesforceTests.TagTests/`an automatic tag can be neither added nor removed`(_:)"}
        {"rule":"salesforce/T7","test":"PatchbaySalesforceTests.TagTests/`removing all tags keeps the automatic ones`()"}
        {"rule":"salesforce/T8","test":"PatchbaySalesforceTests.TagTests/`removing an absent tag sends nothing`()"}
        {"rule":"salesforce/T11","test":"PatchbaySalesforceTests.TagTests/`tags are trimmed and sorted with the automatic ones`()"}
        {"rule":"salesforce/W1","test":"PatchbaySalesforceTests.LifeTests/`settings are trimmed`()"}
        {"rule":"salesforce/W1","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W2","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W2","test":"PatchbaySalesforceTests.WireTests/`an adopted device id stays as it is`()"}
        {"rule":"salesforce/W3","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W3","test":"PatchbaySalesforceTests.WireTests/`the registration's id can be called uuid`()"}
        {"rule":"salesforce/W4","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W4","test":"PatchbaySalesforceTests.WireTests/`what changes by itself is no change`()"}
        {"rule":"salesforce/W5","test":"PatchbaySalesforceTests.IdentityTests/`a contact key is trimmed`()"}
        {"rule":"salesforce/W5","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W6","test":"PatchbaySalesforceTests.TagTests/`the push subscription is one switch`(state:isOn:hasToken:)"}
        {"rule":"salesforce/W6","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W6","test":"PatchbaySalesforceTests.WireTests/`an unknown token is left out`()"}
        {"rule":"salesforce/W7","test":"PatchbaySalesforceTests.TagTests/`the push subscription is one switch`(state:isOn:hasToken:)"}
        {"rule":"salesforce/W7","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W8","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W9","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W10","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W11","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W12","test":"PatchbaySalesforceTests.ScheduleTests/`without device facts nothing leaves`()"}
        {"rule":"salesforce/W13","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W14","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W15","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W16","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W17","test":"PatchbaySalesforceTests.AttributeTests/`names and values are trimmed, pairs sorted`()"}
        {"rule":"salesforce/W17","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W18","test":"PatchbaySalesforceTests.TagTests/`tags are trimmed and sorted with the automatic ones`()"}
        {"rule":"salesforce/W18","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W19","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W19","test":"PatchbaySalesforceTests.WireTests/`the time zone is seconds as text`(offset:text:)"}
        {"rule":"salesforce/W20","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W21","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W22","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W23","test":"PatchbaySalesforceTests.IdentityTests/`the signed string is set, kept by a blank, removed by null`()"}
        {"rule":"salesforce/W25","test":"PatchbaySalesforceTests.LifeTests/`settings are trimmed`()"}
        {"rule":"salesforce/W25","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W26","test":"PatchbaySalesforceTests.LifeTests/`settings are trimmed`()"}
        {"rule":"salesforce/W26","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W27","test":"PatchbaySalesforceTests.EventTests/`an event stands in its envelope`()"}
        {"rule":"salesforce/W27","test":"PatchbaySalesforceTests.WireTests/`the newest subscriber token is sent with registrations too`()"}
        """#
}
