// Written by `make rules` from a test run; don't edit it.
extension RuleEvidence {
    static let builtInNDJSON = #"""
        {"rule":"acoustic/C1","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) settings-change"}
        {"rule":"acoustic/C1","test":"PatchbayAcousticTests.ExactValueTests/`names and values are compared by Unicode scalars`()"}
        {"rule":"acoustic/C1","test":"PatchbayAcousticTests.PeopleTests/`pending values that no longer fit the settings are rejected and kept`()"}
        {"rule":"acoustic/C1","test":"PatchbayAcousticTests.ScheduleTests/`a bad setting is named with its place`(_:)"}
        {"rule":"acoustic/C1","test":"PatchbayAcousticTests.ValueTests/`what the vendor would lose in silence is refused with a reason`(_:)"}
        {"rule":"acoustic/C2","test":"PatchbayAcousticTests.ValueTests/`what the vendor would lose in silence is refused with a reason`(_:)"}
        {"rule":"acoustic/C3","test":"PatchbayAcousticTests.ExactValueTests/`only two ASCII letters are a country`(_:)"}
        {"rule":"acoustic/C3","test":"PatchbayAcousticTests.ValueTests/`each column type has its form`(_:)"}
        {"rule":"acoustic/C3","test":"PatchbayAcousticTests.ValueTests/`what the vendor would lose in silence is refused with a reason`(_:)"}
        {"rule":"acoustic/C4","test":"PatchbayAcousticTests.ValueTests/`each column type has its form`(_:)"}
        {"rule":"acoustic/C5","test":"PatchbayAcousticTests.ValueTests/`each column type has its form`(_:)"}
        {"rule":"acoustic/C5","test":"PatchbayAcousticTests.ValueTests/`what is cut off is told`()"}
        {"rule":"acoustic/C6","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) first-hour"}
        {"rule":"acoustic/C6","test":"PatchbayAcousticTests.ValueTests/`each column type has its form`(_:)"}
        {"rule":"acoustic/C6","test":"PatchbayAcousticTests.ValueTests/`what is cut off is told`()"}
        {"rule":"acoustic/C6","test":"PatchbayAcousticTests.ValueTests/`what the vendor would lose in silence is refused with a reason`(_:)"}
        {"rule":"acoustic/C7","test":"PatchbayAcousticTests.ExactValueTests/`names and values are compared by Unicode scalars`()"}
        {"rule":"acoustic/C7","test":"PatchbayAcousticTests.ValueTests/`each column type has its form`(_:)"}
        {"rule":"acoustic/C7","test":"PatchbayAcousticTests.ValueTests/`what the vendor would lose in silence is refused with a reason`(_:)"}
        {"rule":"acoustic/C8","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) first-hour"}
        {"rule":"acoustic/C8","test":"PatchbayAcousticTests.ExactValueTests/`names and values are compared by Unicode scalars`()"}
        {"rule":"acoustic/C8","test":"PatchbayAcousticTests.ValueTests/`each column type has its form`(_:)"}
        {"rule":"acoustic/C8","test":"PatchbayAcousticTests.ValueTests/`what the vendor would lose in silence is refused with a reason`(_:)"}
        {"rule":"acoustic/C9","test":"PatchbayAcousticTests.ExactValueTests/`a whole number has no decimal point`(_:_:)"}
        {"rule":"acoustic/C9","test":"PatchbayAcousticTests.ValueTests/`each column type has its form`(_:)"}
        {"rule":"acoustic/C9","test":"PatchbayAcousticTests.ValueTests/`too much is refused with its size`()"}
        {"rule":"acoustic/C10","test":"PatchbayAcousticTests.ValueTests/`nothing can be added to a value`()"}
        {"rule":"acoustic/C10","test":"PatchbayAcousticTests.ValueTests/`what the vendor would lose in silence is refused with a reason`(_:)"}
        {"rule":"acoustic/C11","test":"PatchbayAcousticTests.ValueTests/`what the vendor would lose in silence is refused with a reason`(_:)"}
        {"rule":"acoustic/C12","test":"PatchbayAcousticTests.ValueTests/`what the vendor would lose in silence is refused with a reason`(_:)"}
        {"rule":"acoustic/C13","test":"PatchbayAcousticTests.ValueTests/`each column type has its form`(_:)"}
        {"rule":"acoustic/C13","test":"PatchbayAcousticTests.ValueTests/`too much is refused with its size`()"}
        {"rule":"acoustic/C14","test":"PatchbayAcousticTests.ValueTests/`without a schema the rules for every column hold, and that is said`()"}
        {"rule":"acoustic/C15","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) poisoned-cache"}
        {"rule":"acoustic/C15","test":"PatchbayAcousticTests.ValueTests/`without a schema the rules for every column hold, and that is said`()"}
        {"rule":"acoustic/C16","test":"PatchbayAcousticTests.ExactValueTests/`a number for text messages has its country's code, at both APIs`(_:)"}
        {"rule":"acoustic/C16","test":"PatchbayAcousticTests.ValueTests/`each column type has its form`(_:)"}
        {"rule":"acoustic/C16","test":"PatchbayAcousticTests.ValueTests/`what the vendor would lose in silence is refused with a reason`(_:)"}
        {"rule":"acoustic/C17","test":"PatchbayAcousticTests.ValueTests/`each column type has its form`(_:)"}
        {"rule":"acoustic/C18","test":"PatchbayAcousticTests.ValueTests/`each column type has its form`(_:)"}
        {"rule":"acoustic/E1","test":"PatchbayAcousticTests.EventTests/`a blank name is refused`()"}
        {"rule":"acoustic/E1","test":"PatchbayAcousticTests.EventTests/`each kind has the vendor's type and name`(_:)"}
        {"rule":"acoustic/E2","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) events"}
        {"rule":"acoustic/E2","test":"PatchbayAcousticTests.EventTests/`each kind has the vendor's type and name`(_:)"}
        {"rule":"acoustic/E3","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) events"}
        {"rule":"acoustic/E3","test":"PatchbayAcousticTests.EventTests/`a place has the vendor's names alone`()"}
        {"rule":"acoustic/E3","test":"PatchbayAcousticTests.EventTests/`each kind has the vendor's type and name`(_:)"}
        {"rule":"acoustic/E4","test":"PatchbayAcousticTests.EventTests/`each kind has the vendor's type and name`(_:)"}
        {"rule":"acoustic/E5","test":"PatchbayAcousticTests.EventTests/`a nested attribute is left out, with a warning`()"}
        {"rule":"acoustic/E5","test":"PatchbayAcousticTests.EventTests/`each kind has the vendor's type and name`(_:)"}
        {"rule":"acoustic/E6","test":"PatchbayAcousticTests.EventTests/`campaign and mailing come from the push, or the app`()"}
        {"rule":"acoustic/E7","test":"PatchbayAcousticTests.EventTests/`a mailing id that is no number stays behind`(_:)"}
        {"rule":"acoustic/E7","test":"PatchbayAcousticTests.EventTests/`campaign and mailing come from the push, or the app`()"}
        {"rule":"acoustic/E8","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) events"}
        {"rule":"acoustic/E8","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) first-hour"}
        {"rule":"acoustic/E8","test":"PatchbayAcousticTests.EventTests/`an urgent event takes all along`()"}
        {"rule":"acoustic/E8","test":"PatchbayAcousticTests.EventTests/`events wait for the interval, a flush or a full request`()"}
        {"rule":"acoustic/E9","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) events"}
        {"rule":"acoustic/E9","test":"PatchbayAcousticTests.EventTests/`what nobody may ever see is told so`()"}
        {"rule":"acoustic/E10","test":"PatchbayAcousticTests.EventTests/`a session without its length is told`()"}
        {"rule":"acoustic/E10","test":"PatchbayAcousticTests.EventTests/`each kind has the vendor's type and name`(_:)"}
        {"rule":"acoustic/E11","test":"PatchbayAcousticTests.EventTests/`each kind has the vendor's type and name`(_:)"}
        {"rule":"acoustic/E12","test":"PatchbayAcousticTests.EventTests/`events wait for the interval, a flush or a full request`()"}
        {"rule":"acoustic/F1","test":"PatchbayAcousticTests.RecordTests/`a row is what the vendor's import takes`()"}
        {"rule":"acoustic/F2","test":"PatchbayAcousticTests.MapFileTests/`a map file may be of one byte a character, if it says so`()"}
        {"rule":"acoustic/F2","test":"PatchbayAcousticTests.RecordTests/`a file of one byte a character has no other characters`()"}
        {"rule":"acoustic/F2","test":"PatchbayAcousticTests.RecordTests/`a row is what the vendor's import takes`()"}
        {"rule":"acoustic/F3","test":"PatchbayAcousticTests.MapFileTests/`columns are named by their places, whatever the header line says`()"}
        {"rule":"acoustic/F3","test":"PatchbayAcousticTests.RecordTests/`a file of one byte a character has no other characters`()"}
        {"rule":"acoustic/F3","test":"PatchbayAcousticTests.RecordTests/`a row is what the vendor's import takes`()"}
        {"rule":"acoustic/F4","test":"PatchbayAcousticTests.RecordTests/`a row is what the vendor's import takes`()"}
        {"rule":"acoustic/F5","test":"PatchbayAcousticTests.RecordTests/`a row is what the vendor's import takes`()"}
        {"rule":"acoustic/F5","test":"PatchbayAcousticTests.RecordTests/`an instant of the vendor's connectors is in UTC, whatever the file's zone`(_:)"}
        {"rule":"acoustic/F6","test":"PatchbayAcousticTests.RecordTests/`a row is what the vendor's import takes`()"}
        {"rule":"acoustic/F6","test":"PatchbayAcousticTests.RecordTests/`a time has 24 hours or 12, and seconds are cut off and told`(_:_:_:)"}
        {"rule":"acoustic/F7","test":"PatchbayAcousticTests.RecordTests/`a row is what the vendor's import takes`()"}
        {"rule":"acoustic/F8","test":"PatchbayAcousticTests.MapFileTests/`a file of opt-outs, or of people who get nothing, is a no in each row`(_:_:)"}
        {"rule":"acoustic/F8","test":"PatchbayAcousticTests.MapFileTests/`what a person wants is read, even where an import leaves it out`()"}
        {"rule":"acoustic/F8","test":"PatchbayAcousticTests.RecordTests/`a date of opt-out is a no, whatever stands beside it`(_:_:_:)"}
        {"rule":"acoustic/F8","test":"PatchbayAcousticTests.RecordTests/`a row is what the vendor's import takes`()"}
        {"rule":"acoustic/F8","test":"PatchbayAcousticTests.RecordTests/`an export tells who opted out`()"}
        {"rule":"acoustic/F8","test":"PatchbayAcousticTests.RecordTests/`that an F is taken for a yes is said once`()"}
        {"rule":"acoustic/F9","test":"PatchbayAcousticTests.MapFileTests/`a file of opt-outs, or of people who get nothing, is a no in each row`(_:_:)"}
        {"rule":"acoustic/F9","test":"PatchbayAcousticTests.RecordTests/`a suppression list that is made takes those who said no, and each row of it is a no`()"}
        {"rule":"acoustic/F9","test":"PatchbayAcousticTests.RecordTests/`who opted out goes into a file of opt-outs alone`()"}
        {"rule":"acoustic/F9","test":"PatchbayAcousticTests.RecordTests/`whom nobody asked is not added as one who wants mail`(_:_:)"}
        {"rule":"acoustic/F10","test":"PatchbayAcousticTests.MapFileTests/`what a person wants is read, even where an import leaves it out`()"}
        {"rule":"acoustic/F10","test":"PatchbayAcousticTests.RecordTests/`the map file names every column by its place`()"}
        {"rule":"acoustic/F11","test":"PatchbayAcousticTests.MapFileTests/`a map file is read as it was written, and its file as one with a header`()"}
        {"rule":"acoustic/F11","test":"PatchbayAcousticTests.MapFileTests/`columns are named by their places, whatever the header line says`()"}
        {"rule":"acoustic/F11","test":"PatchbayAcousticTests.MapFileTests/`every problem of a map file is told at once, with its line and a remedy`()"}
        {"rule":"acoustic/F11","test":"PatchbayAcousticTests.MapFileTests/`the vendor's own number finds a contact only for whom says so`()"}
        {"rule":"acoustic/F11","test":"PatchbayAcousticTests.MapFileTests/`what is no map file is refused with its place`(_:_:)"}
        {"rule":"acoustic/F11","test":"PatchbayAcousticTests.MapFileTests/`what settings say counts more, and types come from columns that are made`()"}
        {"rule":"acoustic/F11","test":"PatchbayAcousticTests.RecordTests/`settings that no import takes are refused all at once`()"}
        {"rule":"acoustic/F11","test":"PatchbayAcousticTests.RecordTests/`the map file names every column by its place`()"}
        {"rule":"acoustic/F11","test":"PatchbayAcousticTests.RecordTests/`who has no customer's number is known by the address, unless a setting names the key`()"}
        {"rule":"acoustic/F12","test":"PatchbayAcousticTests.RecordTests/`settings that no import takes are refused all at once`()"}
        {"rule":"acoustic/F13","test":"PatchbayAcousticTests.RecordTests/`an export tells who opted out`()"}
        {"rule":"acoustic/F14","test":"PatchbayAcousticTests.RecordTests/`a list that is made has a name and no number, and one that is there a number alone`()"}
        {"rule":"acoustic/F14","test":"PatchbayAcousticTests.RecordTests/`a suppression list that is made takes those who said no, and each row of it is a no`()"}
        {"rule":"acoustic/F14","test":"PatchbayAcousticTests.RecordTests/`the map file of a list that is made names it and tells the type of every column`()"}
        {"rule":"acoustic/G1","test":"PatchbayAcousticTests.ValueTests/`every problem of a group is told at once, and nothing of it goes`()"}
        {"rule":"acoustic/G2","test":"PatchbayAcousticTests.PeopleTests/`what a setting leaves out is named in the outcome`()"}
        {"rule":"acoustic/G2","test":"PatchbayAcousticTests.ValueTests/`by a setting the valid rest goes, and the bad entry is named`()"}
        {"rule":"acoustic/G3","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) poison"}
        {"rule":"acoustic/G3","test":"PatchbayAcousticTests.EventTests/`a refused event falls alone`()"}
        {"rule":"acoustic/G3","test":"PatchbayAcousticTests.GroupTests/`a change of a hundred columns with bad ones goes on through the engine`()"}
        {"rule":"acoustic/G3","test":"PatchbayAcousticTests.GroupTests/`a poisonous tag does not take the others along`()"}
        {"rule":"acoustic/G3","test":"PatchbayAcousticTests.GroupTests/`a refused delete falls alone, too`()"}
        {"rule":"acoustic/G3","test":"PatchbayAcousticTests.GroupTests/`a refused group is halved until the bad entry stands alone`()"}
        {"rule":"acoustic/G3","test":"PatchbayAcousticTests.GroupTests/`a vendor that refuses everything ends everything`(_:)"}
        {"rule":"acoustic/G3","test":"PatchbayAcousticTests.GroupTests/`of one change the bad entry falls, and is named`()"}
        {"rule":"acoustic/G4","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) first-hour"}
        {"rule":"acoustic/G4","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) gathering"}
        {"rule":"acoustic/G4","test":"PatchbayAcousticTests.GroupTests/`a flush and an explicit group do not wait`()"}
        {"rule":"acoustic/G4","test":"PatchbayAcousticTests.GroupTests/`an explicit group goes alone and whole, however large`()"}
        {"rule":"acoustic/G4","test":"PatchbayAcousticTests.GroupTests/`changes are gathered for two seconds from the first`()"}
        {"rule":"acoustic/G5","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) crash"}
        {"rule":"acoustic/G5","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) gathering"}
        {"rule":"acoustic/G5","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) uncertainty"}
        {"rule":"acoustic/G5","test":"PatchbayAcousticTests.GroupTests/`a change that is replaced in part goes with its other part`()"}
        {"rule":"acoustic/G5","test":"PatchbayAcousticTests.GroupTests/`of two values for one column the last one goes`()"}
        {"rule":"acoustic/G5","test":"PatchbayAcousticTests.KnowledgeTests/`a value set back before anyone knows whether it left is sent`()"}
        {"rule":"acoustic/G6","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) delete-then-set"}
        {"rule":"acoustic/G6","test":"PatchbayAcousticTests.GroupTests/`values and deletes of one change are two requests and one ending`()"}
        {"rule":"acoustic/G6","test":"PatchbayAcousticTests.KnowledgeTests/`update, delete and update of one column keep their order`()"}
        {"rule":"acoustic/I1","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) before-the-ids"}
        {"rule":"acoustic/I1","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) first-hour"}
        {"rule":"acoustic/I1","test":"PatchbayAcousticTests.IdentityTests/`a yes without ids is no yes`()"}
        {"rule":"acoustic/I1","test":"PatchbayAcousticTests.IdentityTests/`ids come together`()"}
        {"rule":"acoustic/I1","test":"PatchbayAcousticTests.IdentityTests/`nothing leaves before the ids are known`()"}
        {"rule":"acoustic/I1","test":"PatchbayAcousticTests.IdentityTests/`the registration goes to the configured address`()"}
        {"rule":"acoustic/I2","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) first-hour"}
        {"rule":"acoustic/I2","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) permission"}
        {"rule":"acoustic/I2","test":"PatchbayAcousticTests.IdentityTests/`the person's own no outlives the system's yes`()"}
        {"rule":"acoustic/I2","test":"PatchbayAcousticTests.IdentityTests/`the registration goes to the configured address`()"}
        {"rule":"acoustic/I2","test":"PatchbayAcousticTests.IdentityTests/`the same device is not told again, another fact is`()"}
        {"rule":"acoustic/I2","test":"PatchbayAcousticTests.PeopleTests/`a malformed push token is refused at capture and replaces nothing`(_:)"}
        {"rule":"acoustic/I3","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) first-hour"}
        {"rule":"acoustic/I3","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) merged"}
        {"rule":"acoustic/I3","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) stopped"}
        {"rule":"acoustic/I3","test":"PatchbayAcousticTests.IdentityTests/`a log-in asks for the ids at once, after what came before`()"}
        {"rule":"acoustic/I3","test":"PatchbayAcousticTests.IdentityTests/`a question that fails holds nothing up, and is not asked again that day`()"}
        {"rule":"acoustic/I3","test":"PatchbayAcousticTests.IdentityTests/`after a stop the ids are asked for first`()"}
        {"rule":"acoustic/I3","test":"PatchbayAcousticTests.IdentityTests/`ids that changed at the vendor forget every value`()"}
        {"rule":"acoustic/I3","test":"PatchbayAcousticTests.IdentityTests/`the ids are asked for once a day`()"}
        {"rule":"acoustic/I4","test":"PatchbayAcousticTests.IdentityTests/`a registration in uncertain delivery that may have made a new user forgets the values`()"}
        {"rule":"acoustic/I4","test":"PatchbayAcousticTests.IdentityTests/`invalidateExistingUser is sent, and warned of in production`()"}
        {"rule":"acoustic/I5","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) another-person"}
        {"rule":"acoustic/I5","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) first-hour"}
        {"rule":"acoustic/I5","test":"PatchbayAcousticTests.IdentityTests/`a log-in asks for the ids at once, after what came before`()"}
        {"rule":"acoustic/I5","test":"PatchbayAcousticTests.IdentityTests/`who the person is and that nobody is, a device can't say`()"}
        {"rule":"acoustic/I6","test":"PatchbayAcousticTests.IdentityTests/`who the person is and that nobody is, a device can't say`()"}
        {"rule":"acoustic/I7","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) erased"}
        {"rule":"acoustic/I7","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) erased-for-good"}
        {"rule":"acoustic/I7","test":"PatchbayAcousticTests.IdentityTests/`after an erasure nothing is sent until the device registers again`()"}
        {"rule":"acoustic/I7","test":"PatchbayAcousticTests.IdentityTests/`where nothing registers by itself, what is said in between is dropped`()"}
        {"rule":"acoustic/I8","test":"PatchbayAcousticTests.IdentityTests/`ids come together`()"}
        {"rule":"acoustic/I9","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) ids-of-another-person"}
        {"rule":"acoustic/I9","test":"PatchbayAcousticTests.PeopleTests/`a log-in and an opt-in that another log-in overtakes are not carried out`()"}
        {"rule":"acoustic/I9","test":"PatchbayAcousticTests.PeopleTests/`a person without ids waits while the ids are another person's`()"}
        {"rule":"acoustic/I9","test":"PatchbayAcousticTests.PeopleTests/`what a person captured before any ids is not sent under another person's`()"}
        {"rule":"acoustic/I9","test":"PatchbayAcousticTests.PeopleTests/`who leaves before the ids came is not waited for`()"}
        {"rule":"acoustic/I10","test":"PatchbayAcousticTests.PeopleTests/`ids that the vendor no longer knows are left without it`()"}
        {"rule":"acoustic/I10","test":"PatchbayAcousticTests.PeopleTests/`what waits for one person is sent under that person's ids`()"}
        {"rule":"acoustic/K1","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) gathering"}
        {"rule":"acoustic/K1","test":"PatchbayAcousticTests.ExactValueTests/`a value is known for exactly its column`()"}
        {"rule":"acoustic/K1","test":"PatchbayAcousticTests.KnowledgeTests/`a value that the vendor holds is not sent, however long ago`()"}
        {"rule":"acoustic/K2","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) gathering"}
        {"rule":"acoustic/K2","test":"PatchbayAcousticTests.KnowledgeTests/`of a group only what changes is sent`()"}
        {"rule":"acoustic/K2","test":"PatchbayAcousticTests.KnowledgeTests/`of values that are held and deletes only the deletes are sent`()"}
        {"rule":"acoustic/K3","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) delete-then-set"}
        {"rule":"acoustic/K3","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) poisoned-cache"}
        {"rule":"acoustic/K3","test":"PatchbayAcousticTests.KnowledgeTests/`after a delete the same value is sent again`()"}
        {"rule":"acoustic/K3","test":"PatchbayAcousticTests.KnowledgeTests/`update, delete and update of one column keep their order`()"}
        {"rule":"acoustic/K4","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) poisoned-cache"}
        {"rule":"acoustic/K4","test":"PatchbayAcousticTests.ValueTests/`a delete goes for what nobody wrote, to clear a poisoned cache`()"}
        {"rule":"acoustic/K5","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) another-person"}
        {"rule":"acoustic/K5","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) erased"}
        {"rule":"acoustic/K5","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) merged"}
        {"rule":"acoustic/K5","test":"PatchbayAcousticTests.IdentityTests/`after an erasure nothing is sent until the device registers again`()"}
        {"rule":"acoustic/K5","test":"PatchbayAcousticTests.IdentityTests/`ids that changed at the vendor forget every value`()"}
        {"rule":"acoustic/K5","test":"PatchbayAcousticTests.KnowledgeTests/`another person forgets every value and the tags`()"}
        {"rule":"acoustic/K5","test":"PatchbayAcousticTests.KnowledgeTests/`other ids forget every value`()"}
        {"rule":"acoustic/K5","test":"PatchbayAcousticTests.KnowledgeTests/`the same person keeps the tags`()"}
        {"rule":"acoustic/K5","test":"PatchbayAcousticTests.KnowledgeTests/`whose identifier looks alike is another person`()"}
        {"rule":"acoustic/K6","test":"PatchbayAcousticTests.KnowledgeTests/`a number and its digits are two values`()"}
        {"rule":"acoustic/K6","test":"PatchbayAcousticTests.KnowledgeTests/`a text that looks alike is another value`()"}
        {"rule":"acoustic/K6","test":"PatchbayAcousticTests.KnowledgeTests/`numbers are compared as numbers`(_:)"}
        {"rule":"acoustic/K7","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) crash"}
        {"rule":"acoustic/K7","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) uncertainty"}
        {"rule":"acoustic/K7","test":"PatchbayAcousticTests.GroupTests/`the set of tags outlives an uncertain delivery`()"}
        {"rule":"acoustic/K7","test":"PatchbayAcousticTests.IdentityTests/`a registration in uncertain delivery that may have made a new user forgets the values`()"}
        {"rule":"acoustic/K7","test":"PatchbayAcousticTests.IdentityTests/`a word on push in uncertain delivery is told again, and never as a yes`()"}
        {"rule":"acoustic/K7","test":"PatchbayAcousticTests.KnowledgeTests/`a value set back before anyone knows whether it left is sent`()"}
        {"rule":"acoustic/K7","test":"PatchbayAcousticTests.KnowledgeTests/`set b, answer lost, set a again is sent`(_:)"}
        {"rule":"acoustic/K7","test":"PatchbayAcousticTests.KnowledgeTests/`what surely did not happen leaves the knowledge as it is`(_:)"}
        {"rule":"acoustic/K8","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) delete-then-set"}
        {"rule":"acoustic/K8","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) first-hour"}
        {"rule":"acoustic/K8","test":"PatchbayAcousticTests.KnowledgeTests/`endings tell how far, and name their columns`()"}
        {"rule":"acoustic/K9","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) poisoned-cache"}
        {"rule":"acoustic/K9","test":"PatchbayAcousticTests.KnowledgeTests/`endings tell how far, and name their columns`()"}
        {"rule":"acoustic/L1","test":"PatchbayAcousticTests.KnowledgeTests/`the installation answers for itself`()"}
        {"rule":"acoustic/L2","test":"PatchbayAcousticTests.IdentityTests/`consent is kept here`()"}
        {"rule":"acoustic/L3","test":"PatchbayAcousticTests.IdentityTests/`an unregister reports push as disabled, last`()"}
        {"rule":"acoustic/L3","test":"PatchbayAcousticTests.IdentityTests/`who comes back after an unregister has push again`()"}
        {"rule":"acoustic/L3","test":"PatchbayAcousticTests.IdentityTests/`who never registered has nothing to leave`()"}
        {"rule":"acoustic/L3","test":"PatchbayAcousticTests.PeopleTests/`a registration without an answer is repeated without push, for the unregister`()"}
        {"rule":"acoustic/L3","test":"PatchbayAcousticTests.PeopleTests/`the unregister is the last request and names what the vendor knows`()"}
        {"rule":"acoustic/L4","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) erased"}
        {"rule":"acoustic/L4","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) erased-for-good"}
        {"rule":"acoustic/L4","test":"PatchbayAcousticTests.IdentityTests/`after an erasure nothing is sent until the device registers again`()"}
        {"rule":"acoustic/L4","test":"PatchbayAcousticTests.PeopleTests/`an erasure ends push before the ids are forgotten`()"}
        {"rule":"acoustic/O1","test":"PatchbayAcousticTests.ConfigurationTests/`what the server owns is refused by the catalogue and by the column`()"}
        {"rule":"acoustic/O1","test":"PatchbayAcousticTests.ValueTests/`what the vendor would lose in silence is refused with a reason`(_:)"}
        {"rule":"acoustic/P1","test":"PatchbayAcousticTests.EventTests/`campaign and mailing come from the push, or the app`()"}
        {"rule":"acoustic/P2","test":"PatchbayAcousticTests.EventTests/`each kind has the vendor's type and name`(_:)"}
        {"rule":"acoustic/P3","test":"PatchbayAcousticTests.EventTests/`what a device can't report is refused`()"}
        {"rule":"acoustic/P4","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) permission"}
        {"rule":"acoustic/P4","test":"PatchbayAcousticTests.EventTests/`each kind has the vendor's type and name`(_:)"}
        {"rule":"acoustic/P4","test":"PatchbayAcousticTests.EventTests/`what a device can't report is refused`()"}
        {"rule":"acoustic/P4","test":"PatchbayAcousticTests.IdentityTests/`a permission that the person changed is reported as an event`()"}
        {"rule":"acoustic/P4","test":"PatchbayAcousticTests.IdentityTests/`a word on push in uncertain delivery is told again, and never as a yes`()"}
        {"rule":"acoustic/P4","test":"PatchbayAcousticTests.IdentityTests/`the person's own no outlives the system's yes`()"}
        {"rule":"acoustic/P4","test":"PatchbayAcousticTests.IdentityTests/`who comes back after an unregister has push again`()"}
        {"rule":"acoustic/P5","test":"PatchbayAcousticTests.EventTests/`what a device can't report is refused`()"}
        {"rule":"acoustic/P6","test":"PatchbayAcousticTests.EventTests/`what a device can't report is refused`()"}
        {"rule":"acoustic/P7","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) ids-of-another-person"}
        {"rule":"acoustic/P7","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) two-people-offline"}
        {"rule":"acoustic/P7","test":"PatchbayAcousticTests.PeopleTests/`an opt-out leaves at once, and replaces an opt-in before it`()"}
        {"rule":"acoustic/P7","test":"PatchbayAcousticTests.PeopleTests/`an opt-out that failed is repeated before the next person's ids are taken`()"}
        {"rule":"acoustic/P8","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) consent-to-messages"}
        {"rule":"acoustic/P8","test":"PatchbayAcousticTests.PeopleTests/`push is reported as disabled until the person allows it, whatever comes first`(isDeviceFirst:)"}
        {"rule":"acoustic/P8","test":"PatchbayAcousticTests.PushPersonTests/`after a denial the next person is reached with the next registration`()"}
        {"rule":"acoustic/P8","test":"PatchbayAcousticTests.PushPersonTests/`push is enabled only while the person allows messages`(isRequired:registration:)"}
        {"rule":"acoustic/P8","test":"PatchbayAcousticTests.PushPersonTests/`the next person is not reached before that person's answer`()"}
        {"rule":"acoustic/P8","test":"PatchbayAcousticTests.PushPersonTests/`the next person's consent does not enable push under the ids of a person who denied it`(isSaid:)"}
        {"rule":"acoustic/P9","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) each-person-s-push"}
        {"rule":"acoustic/P9","test":"PatchbayAcousticTests.PushPersonTests/`each person's last statement about push counts when the person comes back`(isOnline:)"}
        {"rule":"acoustic/Q1","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) back-off"}
        {"rule":"acoustic/Q1","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) uncertainty"}
        {"rule":"acoustic/Q1","test":"PatchbayAcousticTests.ScheduleTests/`chance moves a delay up to a fifth`(_:)"}
        {"rule":"acoustic/Q1","test":"PatchbayAcousticTests.ScheduleTests/`delays go from one minute to sixty and on without end`()"}
        {"rule":"acoustic/Q2","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) back-off"}
        {"rule":"acoustic/Q2","test":"PatchbayAcousticTests.ScheduleTests/`Retry-After decides if it is longer`(_:)"}
        {"rule":"acoustic/Q3","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) back-off"}
        {"rule":"acoustic/Q3","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) two-people-offline"}
        {"rule":"acoustic/Q3","test":"PatchbayAcousticTests.IdentityTests/`a registration that waits for its time does not wait for events`()"}
        {"rule":"acoustic/Q3","test":"PatchbayAcousticTests.ScheduleTests/`each stream waits for itself`()"}
        {"rule":"acoustic/Q4","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) before-the-ids"}
        {"rule":"acoustic/Q4","test":"PatchbayAcousticTests.IdentityTests/`nothing leaves before the ids are known`()"}
        {"rule":"acoustic/Q4","test":"PatchbayAcousticTests.IdentityTests/`who never registered has nothing to leave`()"}
        {"rule":"acoustic/Q5","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) stopped"}
        {"rule":"acoustic/Q5","test":"PatchbayAcousticTests.IdentityTests/`after a stop the ids are asked for first`()"}
        {"rule":"acoustic/Q5","test":"PatchbayAcousticTests.ScheduleTests/`these statuses stop the provider and keep everything`(_:)"}
        {"rule":"acoustic/Q6","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) poison"}
        {"rule":"acoustic/Q6","test":"PatchbayAcousticTests.EventTests/`a refused event falls alone`()"}
        {"rule":"acoustic/Q6","test":"PatchbayAcousticTests.GroupTests/`a refused group is halved until the bad entry stands alone`()"}
        {"rule":"acoustic/Q6","test":"PatchbayAcousticTests.IdentityTests/`a refused registration ends with its reason`()"}
        {"rule":"acoustic/Q6","test":"PatchbayAcousticTests.ScheduleTests/`another answer ends it`(_:)"}
        {"rule":"acoustic/R1","test":"PatchbayAcousticTests.ScheduleTests/`another answer ends it`(_:)"}
        {"rule":"acoustic/R2","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) back-off"}
        {"rule":"acoustic/R2","test":"PatchbayAcousticTests.ScheduleTests/`delays go from one minute to sixty and on without end`()"}
        {"rule":"acoustic/R2","test":"PatchbayAcousticTests.ScheduleTests/`the rest is tried again`(_:)"}
        {"rule":"acoustic/R3","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) back-off"}
        {"rule":"acoustic/R3","test":"PatchbayAcousticTests.ScheduleTests/`Retry-After decides if it is longer`(_:)"}
        {"rule":"acoustic/R4","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) back-off"}
        {"rule":"acoustic/R4","test":"PatchbayAcousticTests.ScheduleTests/`the rest is tried again`(_:)"}
        {"rule":"acoustic/R5","test":"PatchbayAcousticTests.ScheduleTests/`the rest is tried again`(_:)"}
        {"rule":"acoustic/R6","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) sign-in-page"}
        {"rule":"acoustic/S1","test":"PatchbayAcousticTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) first-hour"}
        {"rule":"acoustic/S1","test":"PatchbayAcousticTests.ServerTests/`a client that is unknown stops, a host that fails is asked again`()"}
        {"rule":"acoustic/S1","test":"PatchbayAcousticTests.ServerTests/`a token is asked for once for all lanes, and again when it has ended`()"}
        {"rule":"acoustic/S2","test":"PatchbayAcousticTests.ServerTests/`a token is asked for once for all lanes, and again when it has ended`()"}
        {"rule":"acoustic/S3","test":"PatchbayAcousticTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) refused-token"}
        {"rule":"acoustic/S3","test":"PatchbayAcousticTests.ServerTests/`after a refused token it is asked for once more, and after another a person has to act`(_:)"}
        {"rule":"acoustic/S3","test":"PatchbayAcousticTests.ServerTests/`four requests with the same refused token cost one question`()"}
        {"rule":"acoustic/S4","test":"PatchbayAcousticTests.ServerTests/`a token is asked for once for all lanes, and again when it has ended`()"}
        {"rule":"acoustic/S5","test":"PatchbayAcousticTests.ServerTests/`a contact is added with its key and its columns`()"}
        {"rule":"acoustic/S6","test":"PatchbayAcousticTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) first-hour"}
        {"rule":"acoustic/S6","test":"PatchbayAcousticTests.ServerTests/`a contact is added with its key and its columns`()"}
        {"rule":"acoustic/S7","test":"PatchbayAcousticTests.ServerTests/`a contact that is there or not leads to the other call, once`()"}
        {"rule":"acoustic/S8","test":"PatchbayAcousticTests.ServerTests/`a contact that is there or not leads to the other call, once`()"}
        {"rule":"acoustic/S9","test":"PatchbayAcousticTests.ServerTests/`a contact is added with its key and its columns`()"}
        {"rule":"acoustic/S9","test":"PatchbayAcousticTests.ServerTests/`a contact that is there or not leads to the other call, once`()"}
        {"rule":"acoustic/S9","test":"PatchbayAcousticTests.ServerTests/`settings that do not fit together are all found`()"}
        {"rule":"acoustic/S10","test":"PatchbayAcousticTests.ServerTests/`a refused call goes again in halves, until the bad word stands alone`()"}
        {"rule":"acoustic/S11","test":"PatchbayAcousticTests.ServerTests/`a refused call goes again in halves, until the bad word stands alone`()"}
        {"rule":"acoustic/S12","test":"PatchbayAcousticTests.ServerTests/`a fault of the server is tried again, five times in all, and stops nobody else`()"}
        {"rule":"acoustic/S13","test":"PatchbayAcousticTests.ServerListTests/`a list that the account does not know stops`()"}
        {"rule":"acoustic/S13","test":"PatchbayAcousticTests.ServerTests/`what only a person can mend stops, and keeps everything`(_:_:)"}
        {"rule":"acoustic/S14","test":"PatchbayAcousticTests.ServerTests/`a contact is added with its key and its columns`()"}
        {"rule":"acoustic/S14","test":"PatchbayAcousticTests.ServerTests/`settings that do not fit together are all found`()"}
        {"rule":"acoustic/S14","test":"PatchbayAcousticTests.ServerTests/`what a column can't hold refuses the operation, or stays out`()"}
        {"rule":"acoustic/S15","test":"PatchbayAcousticTests.ServerTests/`a contact is added with its key and its columns`()"}
        {"rule":"acoustic/S15","test":"PatchbayAcousticTests.ServerTests/`what a column can't hold refuses the operation, or stays out`()"}
        {"rule":"acoustic/S16","test":"PatchbayAcousticTests.ServerTests/`a contact is added with its key and its columns`()"}
        {"rule":"acoustic/S16","test":"PatchbayAcousticTests.ServerTests/`a fraction of a second is cut off with a finding`()"}
        {"rule":"acoustic/S17","test":"PatchbayAcousticTests.ServerTests/`a contact is added with its key and its columns`()"}
        {"rule":"acoustic/S18","test":"PatchbayAcousticTests.ServerTests/`a contact is added with its key and its columns`()"}
        {"rule":"acoustic/S18","test":"PatchbayAcousticTests.ServerTests/`what a column can't hold refuses the operation, or stays out`()"}
        {"rule":"acoustic/S19","test":"PatchbayAcousticTests.ServerTests/`what a column can't hold refuses the operation, or stays out`()"}
        {"rule":"acoustic/S20","test":"PatchbayAcousticTests.ServerTests/`a contact is added with its key and its columns`()"}
        {"rule":"acoustic/S20","test":"PatchbayAcousticTests.ServerTests/`what a column can't hold refuses the operation, or stays out`()"}
        {"rule":"acoustic/S21","test":"PatchbayAcousticTests.ServerTests/`what a column can't hold refuses the operation, or stays out`()"}
        {"rule":"acoustic/S22","test":"PatchbayAcousticTests.ServerTests/`what a column can't hold refuses the operation, or stays out`()"}
        {"rule":"acoustic/S23","test":"PatchbayAcousticTests.ServerTests/`what a column can't hold refuses the operation, or stays out`()"}
        {"rule":"acoustic/S24","test":"PatchbayAcousticTests.ServerTests/`what a column can't hold refuses the operation, or stays out`()"}
        {"rule":"acoustic/S25","test":"PatchbayAcousticTests.ServerTests/`several words of one contact are one call, the last value wins`()"}
        {"rule":"acoustic/S26","test":"PatchbayAcousticTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) events"}
        {"rule":"acoustic/S26","test":"PatchbayAcousticTests.ServerTests/`a job that the vendor forgot goes again, and a refused one in halves`()"}
        {"rule":"acoustic/S26","test":"PatchbayAcousticTests.ServerTests/`a refused call goes again in halves, until the bad word stands alone`()"}
        {"rule":"acoustic/S26","test":"PatchbayAcousticTests.ServerTests/`one bad event refuses its list, and is found`(_:)"}
        {"rule":"acoustic/S27","test":"PatchbayAcousticTests.ServerTests/`a contact is added with its key and its columns`()"}
        {"rule":"acoustic/S27","test":"PatchbayAcousticTests.ServerTests/`contacts whose keys look alike stay two`()"}
        {"rule":"acoustic/S27","test":"PatchbayAcousticTests.ServerTests/`tags and subscriptions are columns, and what this API does not take is refused`()"}
        {"rule":"acoustic/S28","test":"PatchbayAcousticTests.ServerTests/`tags and subscriptions are columns, and what this API does not take is refused`()"}
        {"rule":"acoustic/S29","test":"PatchbayAcousticTests.ServerTests/`tags and subscriptions are columns, and what this API does not take is refused`()"}
        {"rule":"acoustic/S30","test":"PatchbayAcousticTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) first-hour"}
        {"rule":"acoustic/S30","test":"PatchbayAcousticTests.ServerTests/`an opt-out asks the database for the address first`()"}
        {"rule":"acoustic/S31","test":"PatchbayAcousticTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) first-hour"}
        {"rule":"acoustic/S31","test":"PatchbayAcousticTests.ServerTests/`a removal takes the contact out of the database`()"}
        {"rule":"acoustic/S31","test":"PatchbayAcousticTests.ServerTests/`an opt-out asks the database for the address first`()"}
        {"rule":"acoustic/S32","test":"PatchbayAcousticTests.ServerTests/`a removal takes the contact out of the database`()"}
        {"rule":"acoustic/S33","test":"PatchbayAcousticTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) erasure"}
        {"rule":"acoustic/S33","test":"PatchbayAcousticTests.ServerTests/`contacts are erased by one job, which is asked for until it has no state`()"}
        {"rule":"acoustic/S33","test":"PatchbayAcousticTests.ServerTests/`contacts whose keys look alike stay two`()"}
        {"rule":"acoustic/S34","test":"PatchbayAcousticTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) erasure"}
        {"rule":"acoustic/S34","test":"PatchbayAcousticTests.ServerTests/`contacts are erased by one job, which is asked for until it has no state`()"}
        {"rule":"acoustic/S35","test":"PatchbayAcousticTests.ServerTests/`a job that the vendor forgot goes again, and a refused one in halves`()"}
        {"rule":"acoustic/S36","test":"PatchbayAcousticTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) events"}
        {"rule":"acoustic/S36","test":"PatchbayAcousticTests.ServerTests/`an event finds its contact's number first, and goes with others`()"}
        {"rule":"acoustic/S37","test":"PatchbayAcousticTests.ServerTests/`an event finds its contact's number first, and goes with others`()"}
        {"rule":"acoustic/S37","test":"PatchbayAcousticTests.ServerTests/`settings that do not fit together are all found`()"}
        {"rule":"acoustic/S38","test":"PatchbayAcousticTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) event-in-uncertainty"}
        {"rule":"acoustic/S38","test":"PatchbayAcousticTests.ServerTests/`an event leaves once, also where nobody knows what became of it`()"}
        {"rule":"acoustic/S39","test":"PatchbayAcousticTests.ServerTests/`an event finds its contact's number first, and goes with others`()"}
        {"rule":"acoustic/S40","test":"PatchbayAcousticTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) events"}
        {"rule":"acoustic/S40","test":"PatchbayAcousticTests.ServerTests/`an event finds its contact's number first, and goes with others`()"}
        {"rule":"acoustic/S41","test":"PatchbayAcousticTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) events"}
        {"rule":"acoustic/S41","test":"PatchbayAcousticTests.ServerTests/`an event finds its contact's number first, and goes with others`()"}
        {"rule":"acoustic/S42","test":"PatchbayAcousticTests.ServerTests/`one bad event refuses its list, and is found`(_:)"}
        {"rule":"acoustic/S43","test":"PatchbayAcousticTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) retry-after"}
        {"rule":"acoustic/S43","test":"PatchbayAcousticTests.ServerTests/`a Retry-After keeps every lane back, over a restart`()"}
        {"rule":"acoustic/S43","test":"PatchbayAcousticTests.ServerTests/`a client that is unknown stops, a host that fails is asked again`()"}
        {"rule":"acoustic/S43","test":"PatchbayAcousticTests.ServerTests/`a vendor that fails is asked less often each time, by all lanes together`()"}
        {"rule":"acoustic/S44","test":"PatchbayAcousticTests.ServerTests/`an address of a database that is not there stops, too`()"}
        {"rule":"acoustic/S44","test":"PatchbayAcousticTests.ServerTests/`what only a person can mend stops, and keeps everything`(_:_:)"}
        {"rule":"acoustic/S45","test":"PatchbayAcousticTests.ServerTests/`without a clear answer a call goes again`()"}
        {"rule":"acoustic/S46","test":"PatchbayAcousticTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) first-hour"}
        {"rule":"acoustic/S46","test":"PatchbayAcousticTests.ServerTests/`a contact is read, and a question has words of its own`()"}
        {"rule":"acoustic/S47","test":"PatchbayAcousticTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) import"}
        {"rule":"acoustic/S47","test":"PatchbayAcousticTests.ServerTests/`a file goes into the database by a job, and dropped rows are told`()"}
        {"rule":"acoustic/S48","test":"PatchbayAcousticTests.ServerTests/`tags and subscriptions are columns, and what this API does not take is refused`()"}
        {"rule":"acoustic/S49","test":"PatchbayAcousticTests.ServerTests/`without a clear answer a call goes again`()"}
        {"rule":"acoustic/S50","test":"PatchbayAcousticTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) consents"}
        {"rule":"acoustic/S50","test":"PatchbayAcousticTests.ServerConsentTests/`a consent that is unknown ends alone, and without a clear answer it goes again`()"}
        {"rule":"acoustic/S50","test":"PatchbayAcousticTests.ServerConsentTests/`a consent to push messages is one device's, with its date and source`()"}
        {"rule":"acoustic/S50","test":"PatchbayAcousticTests.ServerConsentTests/`what a consent lacks is told before it leaves`()"}
        {"rule":"acoustic/S50","test":"PatchbayAcousticTests.ServerConsentTests/`where consents stand is a setting, and settings that do not fit are found`()"}
        {"rule":"acoustic/S51","test":"PatchbayAcousticTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) consents"}
        {"rule":"acoustic/S51","test":"PatchbayAcousticTests.ServerConsentTests/`a consent to push messages is one device's, with its date and source`()"}
        {"rule":"acoustic/S51","test":"PatchbayAcousticTests.ServerConsentTests/`all four spellings are read, and what is none of them is no yes`(_:_:)"}
        {"rule":"acoustic/S51","test":"PatchbayAcousticTests.ServerConsentTests/`what a consent lacks is told before it leaves`()"}
        {"rule":"acoustic/S52","test":"PatchbayAcousticTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) consents"}
        {"rule":"acoustic/S52","test":"PatchbayAcousticTests.ServerConsentTests/`a no to text messages is written over a yes alone, and never as a first word`()"}
        {"rule":"acoustic/S53","test":"PatchbayAcousticTests.ServerConsentTests/`a consent to push messages is one device's, with its date and source`()"}
        {"rule":"acoustic/S53","test":"PatchbayAcousticTests.ServerConsentTests/`a no to text messages is written over a yes alone, and never as a first word`()"}
        {"rule":"acoustic/S53","test":"PatchbayAcousticTests.ServerConsentTests/`what a consent lacks is told before it leaves`()"}
        {"rule":"acoustic/S54","test":"PatchbayAcousticTests.ServerReadingTests/`the contact of a device is read by its channel`()"}
        {"rule":"acoustic/S55","test":"PatchbayAcousticTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) lists"}
        {"rule":"acoustic/S55","test":"PatchbayAcousticTests.ServerListTests/`a list that the account does not know stops`()"}
        {"rule":"acoustic/S55","test":"PatchbayAcousticTests.ServerListTests/`a tag joins a list once its row is written, one list after the other`()"}
        {"rule":"acoustic/S55","test":"PatchbayAcousticTests.ServerListTests/`settings of lists that do not fit are found`()"}
        {"rule":"acoustic/S55","test":"PatchbayAcousticTests.ServerListTests/`what a list holds is read as the tag and the topic`()"}
        {"rule":"acoustic/S55","test":"PatchbayAcousticTests.ServerListTests/`who is not in the database is added first, unless the settings say otherwise`()"}
        {"rule":"acoustic/S55","test":"PatchbayAcousticTests.ServerListTests/`without a clear answer a list is joined again, over a restart, too`()"}
        {"rule":"acoustic/S56","test":"PatchbayAcousticTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) lists"}
        {"rule":"acoustic/S56","test":"PatchbayAcousticTests.ServerListTests/`a removal from a list is refused, and a replacement tells who stays`()"}
        {"rule":"acoustic/S56","test":"PatchbayAcousticTests.ServerListTests/`settings of lists that do not fit are found`()"}
        {"rule":"acoustic/S57","test":"PatchbayAcousticTests.ServerListTests/`a list is made, and never twice in uncertain delivery`()"}
        {"rule":"acoustic/S58","test":"PatchbayAcousticTests.ServerReadingTests/`the database's columns are read, and held against the settings`()"}
        {"rule":"acoustic/S59","test":"PatchbayAcousticTests.ServerReadingTests/`what the vendor holds of a person is asked for by a job`()"}
        {"rule":"acoustic/S60","test":"PatchbayAcousticTests.ServerReadingTests/`contacts go into a file by a job, which is asked for until it ends`()"}
        {"rule":"acoustic/S61","test":"PatchbayAcousticTests.ServerReadingTests/`events that the vendor took and then rejected are listed`()"}
        {"rule":"acoustic/S62","test":"PatchbayAcousticTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) opt-out-first"}
        {"rule":"acoustic/S62","test":"PatchbayAcousticTests.ServerTests/`an opt-out of a contact that is not there waits for it, and blocks nothing`()"}
        {"rule":"acoustic/S63","test":"PatchbayAcousticTests.ServerReadingTests/`a job ends within the default timeout, or its number is the answer`(_:)"}
        {"rule":"acoustic/T1","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) first-hour"}
        {"rule":"acoustic/T1","test":"PatchbayAcousticTests.GroupTests/`a tag that the column can't hold is refused`(_:)"}
        {"rule":"acoustic/T1","test":"PatchbayAcousticTests.GroupTests/`tags are one column, sent whole`()"}
        {"rule":"acoustic/T1","test":"PatchbayAcousticTests.GroupTests/`the set of tags outlives an uncertain delivery`()"}
        {"rule":"acoustic/T1","test":"PatchbayAcousticTests.ScheduleTests/`a bad setting is named with its place`(_:)"}
        {"rule":"acoustic/T2","test":"PatchbayAcousticTests.GroupTests/`a tag may have a column of its own`()"}
        {"rule":"acoustic/T3","test":"PatchbayAcousticTests.GroupTests/`a tag that the column can't hold is refused`(_:)"}
        {"rule":"acoustic/V1","test":"PatchbayAcousticTests.ConformanceTests/`a conversation goes as its golden says`(_:) poison"}
        {"rule":"acoustic/V1","test":"PatchbayAcousticTests.GroupTests/`of one change the bad entry falls, and is named`()"}
        {"rule":"acoustic/V1","test":"PatchbayAcousticTests.KnowledgeTests/`endings tell how far, and name their columns`()"}
        {"rule":"acoustic/W1","test":"PatchbayAcousticTests.ValueTests/`each column type has its form`(_:)"}
        {"rule":"acoustic/W2","test":"PatchbayAcousticTests.ScheduleTests/`requests name what they change and nothing else`()"}
        {"rule":"acoustic/W3","test":"PatchbayAcousticTests.EventTests/`each kind has the vendor's type and name`(_:)"}
        {"rule":"acoustic/W4","test":"PatchbayAcousticTests.ScheduleTests/`the base address may name the version`(_:)"}
        {"rule":"acoustic/W4","test":"PatchbayAcousticTests.ScheduleTests/`verbs, paths and wrappers are data`()"}
        {"rule":"acoustic/W5","test":"PatchbayAcousticTests.ValueTests/`each column type has its form`(_:)"}
        {"rule":"acoustic/W6","test":"PatchbayAcousticTests.ScheduleTests/`requests name what they change and nothing else`()"}
        {"rule":"acoustic/W7","test":"PatchbayAcousticTests.ScheduleTests/`verbs, paths and wrappers are data`()"}
        {"rule":"acoustic/W8","test":"PatchbayAcousticTests.ScheduleTests/`verbs, paths and wrappers are data`()"}
        {"rule":"adobe/A1","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) pushes-in-each-state"}
        {"rule":"adobe/A1","test":"PatchbayAdobeTests.PushTests/`a message that arrives is an impression, wherever the app is`()"}
        {"rule":"adobe/A2","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) pushes-in-each-state"}
        {"rule":"adobe/A2","test":"PatchbayAdobeTests.PushTests/`a message that arrives is an impression, wherever the app is`()"}
        {"rule":"adobe/A3","test":"PatchbayAdobeTests.PushTests/`the system's calls become events`()"}
        {"rule":"adobe/A4","test":"PatchbayAdobeTests.PushTests/`a lint tells what a delivery needs to be heard of`()"}
        {"rule":"adobe/A5","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) pushes-in-each-state"}
        {"rule":"adobe/A5","test":"PatchbayAdobeTests.PushTests/`a dismissed message is a click alone`()"}
        {"rule":"adobe/A6","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) pushes-in-each-state"}
        {"rule":"adobe/A6","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) tap-cut-in-flight"}
        {"rule":"adobe/A6","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) tap-cut-in-two"}
        {"rule":"adobe/A6","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) untracked-delivery"}
        {"rule":"adobe/A6","test":"PatchbayAdobeTests.PeopleTests/`click and open carry one identity, and another identity has no values of the first`()"}
        {"rule":"adobe/A6","test":"PatchbayAdobeTests.PushTests/`a delivery that the server does not track is refused with 404`()"}
        {"rule":"adobe/A6","test":"PatchbayAdobeTests.PushTests/`a tapped message is a click and then an open of the same ids`(_:)"}
        {"rule":"adobe/A6","test":"PatchbayAdobeTests.RetryTests/`between click and open only the open is repeated`()"}
        {"rule":"adobe/A6","test":"PatchbayAdobeTests.RetryTests/`the open follows a refused click, and the verdict tells of both`()"}
        {"rule":"adobe/A7","test":"PatchbayAdobeTests.PushTests/`a lint tells what a delivery needs to be heard of`()"}
        {"rule":"adobe/A8","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) pushes-in-each-state"}
        {"rule":"adobe/A8","test":"PatchbayAdobeTests.PushTests/`an app that is opened in another way tells nothing of a message`()"}
        {"rule":"adobe/A9","test":"PatchbayAdobeTests.PushTests/`a button is a tap, and by a setting a click if the app stays in the background`()"}
        {"rule":"adobe/A10","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) pushes-in-each-state"}
        {"rule":"adobe/A10","test":"PatchbayAdobeTests.PushTests/`a local notification has other names and no flag`()"}
        {"rule":"adobe/B1","test":"PatchbayAdobeTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) first-hour"}
        {"rule":"adobe/B1","test":"PatchbayAdobeTests.ServerTests/`one token serves every lane, and every request bears it`()"}
        {"rule":"adobe/B2","test":"PatchbayAdobeTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) first-hour"}
        {"rule":"adobe/B2","test":"PatchbayAdobeTests.ServerTests/`one token serves every lane, and every request bears it`()"}
        {"rule":"adobe/B3","test":"PatchbayAdobeTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) refused-token"}
        {"rule":"adobe/B4","test":"PatchbayAdobeTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) first-hour"}
        {"rule":"adobe/B4","test":"PatchbayAdobeTests.ServerTests/`one token serves every lane, and every request bears it`()"}
        {"rule":"adobe/B5","test":"PatchbayAdobeTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) first-hour"}
        {"rule":"adobe/B5","test":"PatchbayAdobeTests.ServerTests/`one token serves every lane, and every request bears it`()"}
        {"rule":"adobe/B6","test":"PatchbayAdobeTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) first-hour"}
        {"rule":"adobe/B6","test":"PatchbayAdobeTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) pages"}
        {"rule":"adobe/B6","test":"PatchbayAdobeTests.ServerTests/`a key of the account stands in addresses, and nothing is asked for first`()"}
        {"rule":"adobe/B6","test":"PatchbayAdobeTests.ServerTests/`a profile is found as the settings say, and made where it is not`(_:)"}
        {"rule":"adobe/B7","test":"PatchbayAdobeTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) pages"}
        {"rule":"adobe/B7","test":"PatchbayAdobeTests.ServerTests/`a profile is found as the settings say, and made where it is not`(_:)"}
        {"rule":"adobe/B8","test":"PatchbayAdobeTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) pages"}
        {"rule":"adobe/B8","test":"PatchbayAdobeTests.ServerTests/`a list of subscriptions that can't be had whole is no answer`()"}
        {"rule":"adobe/B8","test":"PatchbayAdobeTests.ServerTests/`pages are followed only behind the API's own address, and not for ever`()"}
        {"rule":"adobe/B8","test":"PatchbayAdobeTests.ServerTests/`subscriptions come in pages, too`()"}
        {"rule":"adobe/B9","test":"PatchbayAdobeTests.ServerTests/`a list of subscriptions that can't be had whole is no answer`()"}
        {"rule":"adobe/B9","test":"PatchbayAdobeTests.ServerTests/`an opt-out is carried out at every profile with the contact's key`()"}
        {"rule":"adobe/B9","test":"PatchbayAdobeTests.ServerTests/`of two profiles with one key nobody knows which is meant`()"}
        {"rule":"adobe/B10","test":"PatchbayAdobeTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) first-hour"}
        {"rule":"adobe/B10","test":"PatchbayAdobeTests.ServerTests/`a profile is found as the settings say, and made where it is not`(_:)"}
        {"rule":"adobe/B10","test":"PatchbayAdobeTests.ServerTests/`an unknown may be refused`()"}
        {"rule":"adobe/B11","test":"PatchbayAdobeTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) first-hour"}
        {"rule":"adobe/B11","test":"PatchbayAdobeTests.ServerTests/`a profile is found as the settings say, and made where it is not`(_:)"}
        {"rule":"adobe/B12","test":"PatchbayAdobeTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) made-in-uncertainty"}
        {"rule":"adobe/B12","test":"PatchbayAdobeTests.ServerTests/`a profile in uncertain delivery is looked for, and one that vanished is made again`()"}
        {"rule":"adobe/B13","test":"PatchbayAdobeTests.ServerTests/`a profile in uncertain delivery is looked for, and one that vanished is made again`()"}
        {"rule":"adobe/B14","test":"PatchbayAdobeTests.ServerTests/`values have the forms of their fields`()"}
        {"rule":"adobe/B14","test":"PatchbayAdobeTests.ServerTests/`what has no place is refused with its reason`()"}
        {"rule":"adobe/B15","test":"PatchbayAdobeTests.ServerTests/`what has no place is refused with its reason`()"}
        {"rule":"adobe/B16","test":"PatchbayAdobeTests.ServerTests/`values have the forms of their fields`()"}
        {"rule":"adobe/B16","test":"PatchbayAdobeTests.ServerTests/`what has no place is refused with its reason`()"}
        {"rule":"adobe/B17","test":"PatchbayAdobeTests.ServerTests/`values have the forms of their fields`()"}
        {"rule":"adobe/B17","test":"PatchbayAdobeTests.ServerTests/`what has no place is refused with its reason`()"}
        {"rule":"adobe/B18","test":"PatchbayAdobeTests.ServerTests/`values have the forms of their fields`()"}
        {"rule":"adobe/B19","test":"PatchbayAdobeTests.ServerTests/`tags and channels are flags, and everything of a contact goes together`()"}
        {"rule":"adobe/B19","test":"PatchbayAdobeTests.ServerTests/`what has no place is refused with its reason`()"}
        {"rule":"adobe/B20","test":"PatchbayAdobeTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) first-hour"}
        {"rule":"adobe/B20","test":"PatchbayAdobeTests.ServerTests/`tags and channels are flags, and everything of a contact goes together`()"}
        {"rule":"adobe/B20","test":"PatchbayAdobeTests.ServerTests/`what has no place is refused with its reason`()"}
        {"rule":"adobe/B21","test":"PatchbayAdobeTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) service-made"}
        {"rule":"adobe/B21","test":"PatchbayAdobeTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) topics"}
        {"rule":"adobe/B21","test":"PatchbayAdobeTests.ServerTests/`a topic is a service, and its subscription a record of its own`()"}
        {"rule":"adobe/B22","test":"PatchbayAdobeTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) subscribed-in-uncertainty"}
        {"rule":"adobe/B22","test":"PatchbayAdobeTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) topics"}
        {"rule":"adobe/B22","test":"PatchbayAdobeTests.ServerTests/`a topic is a service, and its subscription a record of its own`()"}
        {"rule":"adobe/B22","test":"PatchbayAdobeTests.ServerTests/`subscriptions come in pages, too`()"}
        {"rule":"adobe/B23","test":"PatchbayAdobeTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) topics"}
        {"rule":"adobe/B23","test":"PatchbayAdobeTests.ServerTests/`a topic is a service, and its subscription a record of its own`()"}
        {"rule":"adobe/B24","test":"PatchbayAdobeTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) topics"}
        {"rule":"adobe/B24","test":"PatchbayAdobeTests.ServerTests/`a topic is a service, and its subscription a record of its own`()"}
        {"rule":"adobe/B25","test":"PatchbayAdobeTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) subscribed-in-uncertainty"}
        {"rule":"adobe/B25","test":"PatchbayAdobeTests.ServerTests/`a topic is a service, and its subscription a record of its own`()"}
        {"rule":"adobe/B26","test":"PatchbayAdobeTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) first-hour"}
        {"rule":"adobe/B26","test":"PatchbayAdobeTests.ServerTests/`a key of the account stands in addresses, and nothing is asked for first`()"}
        {"rule":"adobe/B27","test":"PatchbayAdobeTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) unexplained"}
        {"rule":"adobe/B28","test":"PatchbayAdobeTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) wrong-organization"}
        {"rule":"adobe/B29","test":"PatchbayAdobeTests.ServerTests/`an answer means what its table says`()"}
        {"rule":"adobe/B30","test":"PatchbayAdobeTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) retry-after"}
        {"rule":"adobe/B31","test":"PatchbayAdobeTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) unexplained"}
        {"rule":"adobe/B32","test":"PatchbayAdobeTests.ServerTests/`an answer means what its table says`()"}
        {"rule":"adobe/B33","test":"PatchbayAdobeTests.ServerTests/`an answer means what its table says`()"}
        {"rule":"adobe/B34","test":"PatchbayAdobeTests.ServerTests/`a reader gets a profile, or pages of a collection`()"}
        {"rule":"adobe/B35","test":"PatchbayAdobeTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) first-hour"}
        {"rule":"adobe/B35","test":"PatchbayAdobeTests.ServerTests/`a bad value falls alone, also where the profile is still to be made`()"}
        {"rule":"adobe/B35","test":"PatchbayAdobeTests.ServerTests/`contacts whose keys look alike stay two`()"}
        {"rule":"adobe/B35","test":"PatchbayAdobeTests.ServerTests/`tags and channels are flags, and everything of a contact goes together`()"}
        {"rule":"adobe/B36","test":"PatchbayAdobeTests.ServerTests/`contacts whose keys look alike stay two`()"}
        {"rule":"adobe/B36","test":"PatchbayAdobeTests.ServerTests/`what has no place is refused with its reason`()"}
        {"rule":"adobe/B37","test":"PatchbayAdobeTests.ServerTests/`what has no place is refused with its reason`()"}
        {"rule":"adobe/B38","test":"PatchbayAdobeTests.ServerTests/`an answer means what its table says`()"}
        {"rule":"adobe/B39","test":"PatchbayAdobeTests.ServerTests/`a profile is told in neutral terms, with a flag's no, and without what nobody said`()"}
        {"rule":"adobe/B40","test":"PatchbayAdobeTests.ServerTests/`what a profile is not subscribed to is told behind the last page of its subscriptions`()"}
        {"rule":"adobe/B41","test":"PatchbayAdobeTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) service-made"}
        {"rule":"adobe/B41","test":"PatchbayAdobeTests.ServerTests/`a service that is not there is made once, if the settings want it`()"}
        {"rule":"adobe/C1","test":"PatchbayAdobeTests.ClassicTests/`one request tells of a message, in other numbers`()"}
        {"rule":"adobe/C2","test":"PatchbayAdobeTests.ClassicTests/`one request tells of a message, in other numbers`()"}
        {"rule":"adobe/C3","test":"PatchbayAdobeTests.ClassicConformanceTests/converses(_:) asked-once"}
        {"rule":"adobe/C3","test":"PatchbayAdobeTests.ClassicTests/`one request tells of a message, in other numbers`()"}
        {"rule":"adobe/C4","test":"PatchbayAdobeTests.ClassicTests/`a message's id is converted`(_:_:_:)"}
        {"rule":"adobe/C5","test":"PatchbayAdobeTests.ClassicTests/`a message's id is converted`(_:_:_:)"}
        {"rule":"adobe/C5","test":"PatchbayAdobeTests.ClassicTests/`any other id is refused`(_:)"}
        {"rule":"adobe/C6","test":"PatchbayAdobeTests.ClassicTests/`a message's id is converted`(_:_:_:)"}
        {"rule":"adobe/C7","test":"PatchbayAdobeTests.ClassicTests/`a message's id is converted`(_:_:_:)"}
        {"rule":"adobe/C8","test":"PatchbayAdobeTests.ClassicConformanceTests/converses(_:) persons-on-one-phone"}
        {"rule":"adobe/C8","test":"PatchbayAdobeTests.ClassicTests/`a registration, byte for byte`()"}
        {"rule":"adobe/C9","test":"PatchbayAdobeTests.ClassicTests/`a registration, byte for byte`()"}
        {"rule":"adobe/C9","test":"PatchbayAdobeTests.ClassicTests/`without a token nothing is registered`()"}
        {"rule":"adobe/C10","test":"PatchbayAdobeTests.ClassicTests/`a registration, byte for byte`()"}
        {"rule":"adobe/C11","test":"PatchbayAdobeTests.ClassicConformanceTests/converses(_:) persons-on-one-phone"}
        {"rule":"adobe/C11","test":"PatchbayAdobeTests.ClassicTests/`a registration, byte for byte`()"}
        {"rule":"adobe/C11","test":"PatchbayAdobeTests.ClassicTests/`one identifier is the user key`()"}
        {"rule":"adobe/C12","test":"PatchbayAdobeTests.ClassicTests/`Android has details of its own`()"}
        {"rule":"adobe/C13","test":"PatchbayAdobeTests.ClassicTests/`a registration, byte for byte`()"}
        {"rule":"adobe/C13","test":"PatchbayAdobeTests.ClassicTests/`attributes and tags are parameters`()"}
        {"rule":"adobe/C14","test":"PatchbayAdobeTests.ClassicTests/`attributes and tags are parameters`()"}
        {"rule":"adobe/C15","test":"PatchbayAdobeTests.ClassicTests/`a registration, byte for byte`()"}
        {"rule":"adobe/C15","test":"PatchbayAdobeTests.ClassicTests/`hostile texts come through, or are refused, or say what they lose`()"}
        {"rule":"adobe/C16","test":"PatchbayAdobeTests.ClassicConformanceTests/converses(_:) persons-on-one-phone"}
        {"rule":"adobe/C16","test":"PatchbayAdobeTests.ClassicPeopleTests/`another app at the vendor holds no registration of the first`()"}
        {"rule":"adobe/C16","test":"PatchbayAdobeTests.ClassicTests/`a registration that the vendor took is not sent again`()"}
        {"rule":"adobe/C17","test":"PatchbayAdobeTests.ClassicConformanceTests/converses(_:) an-opt-out"}
        {"rule":"adobe/C17","test":"PatchbayAdobeTests.ClassicPeopleTests/`opt-outs, erasures and the unregister take the person off the device`()"}
        {"rule":"adobe/C17","test":"PatchbayAdobeTests.ClassicTests/`an opt-out forgets the person and what the vendor took`()"}
        {"rule":"adobe/C18","test":"PatchbayAdobeTests.ClassicConformanceTests/converses(_:) an-opt-out"}
        {"rule":"adobe/C18","test":"PatchbayAdobeTests.ClassicConformanceTests/converses(_:) asked-once"}
        {"rule":"adobe/C18","test":"PatchbayAdobeTests.ClassicTests/`nothing is repeated, and what failed can be replayed`(_:)"}
        {"rule":"adobe/C19","test":"PatchbayAdobeTests.ClassicConformanceTests/converses(_:) asked-once"}
        {"rule":"adobe/C19","test":"PatchbayAdobeTests.ClassicTests/`nothing is repeated, and what failed can be replayed`(_:)"}
        {"rule":"adobe/C20","test":"PatchbayAdobeTests.ClassicChangingFactsTests/`a change of person takes the former one off the push token before, too`(_:)"}
        {"rule":"adobe/C20","test":"PatchbayAdobeTests.ClassicConformanceTests/converses(_:) denial-of-the-person-before"}
        {"rule":"adobe/C20","test":"PatchbayAdobeTests.ClassicConformanceTests/converses(_:) persons-on-one-phone"}
        {"rule":"adobe/C20","test":"PatchbayAdobeTests.ClassicPeopleTests/`a log-out or log-in that is not answered is repeated until the person is off the device`()"}
        {"rule":"adobe/C20","test":"PatchbayAdobeTests.ClassicPeopleTests/`after a refused log-in nothing is registered for the person before`()"}
        {"rule":"adobe/C20","test":"PatchbayAdobeTests.ClassicPeopleTests/`the denial of one person does not bind the next person`(_:)"}
        {"rule":"adobe/C20","test":"PatchbayAdobeTests.ClassicTests/`what was said of one person is never told of the next`()"}
        {"rule":"adobe/C21","test":"PatchbayAdobeTests.ClassicPeopleTests/`opt-outs, erasures and the unregister take the person off the device`()"}
        {"rule":"adobe/C22","test":"PatchbayAdobeTests.ClassicChangingFactsTests/`a change of person takes the former one off the push token before, too`(_:)"}
        {"rule":"adobe/C22","test":"PatchbayAdobeTests.ClassicPeopleTests/`a log-out or log-in that is not answered is repeated until the person is off the device`()"}
        {"rule":"adobe/F1","test":"PatchbayAdobeTests.RecordTests/`a flat file has the profile's fields, and a flag means do not contact`()"}
        {"rule":"adobe/F1","test":"PatchbayAdobeTests.RecordTests/`what a flat file can't hold is named`()"}
        {"rule":"adobe/F2","test":"PatchbayAdobeTests.RecordTests/`a flat file has the profile's fields, and a flag means do not contact`()"}
        {"rule":"adobe/F3","test":"PatchbayAdobeTests.RecordTests/`a flat file has the profile's fields, and a flag means do not contact`()"}
        {"rule":"adobe/F4","test":"PatchbayAdobeTests.RecordTests/`what a flat file can't hold is named`()"}
        {"rule":"adobe/F5","test":"PatchbayAdobeTests.RecordTests/`a flag for a channel is a no to it, and stands in the same field again`(_:)"}
        {"rule":"adobe/F5","test":"PatchbayAdobeTests.RecordTests/`a flat file has the profile's fields, and a flag means do not contact`()"}
        {"rule":"adobe/F5","test":"PatchbayAdobeTests.RecordTests/`a no to selling the person's data is a consent's no, and false is no yes`()"}
        {"rule":"adobe/F5","test":"PatchbayAdobeTests.RecordTests/`whether a flag that refuses nothing is a yes the settings say`()"}
        {"rule":"adobe/F6","test":"PatchbayAdobeTests.RecordTests/`a flat file has the profile's fields, and a flag means do not contact`()"}
        {"rule":"adobe/F7","test":"PatchbayAdobeTests.RecordTests/`what a flat file can't hold is named`()"}
        {"rule":"adobe/F7","test":"PatchbayAdobeTests.RecordTests/`who has no external id is found by the address, and the plan's note says so`()"}
        {"rule":"adobe/F8","test":"PatchbayAdobeTests.RecordTests/`what a flat file can't hold is named`()"}
        {"rule":"adobe/F9","test":"PatchbayAdobeTests.RecordTests/`what a flat file can't hold is named`()"}
        {"rule":"adobe/G1","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) pushes-in-each-state"}
        {"rule":"adobe/G1","test":"PatchbayAdobeTests.PushTests/`a flag that does not say on drops the event`(_:)"}
        {"rule":"adobe/G2","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) pushes-in-each-state"}
        {"rule":"adobe/G2","test":"PatchbayAdobeTests.PushTests/`a delivery without a flag is tracked`()"}
        {"rule":"adobe/G3","test":"PatchbayAdobeTests.PushTests/`a flag that does not say on drops the event`(_:)"}
        {"rule":"adobe/G3","test":"PatchbayAdobeTests.PushTests/`on is on in any case`(_:)"}
        {"rule":"adobe/G4","test":"PatchbayAdobeTests.PushTests/`a flag that is no text counts as missing`(_:)"}
        {"rule":"adobe/G5","test":"PatchbayAdobeTests.ClassicTests/`any other id is refused`(_:)"}
        {"rule":"adobe/G5","test":"PatchbayAdobeTests.PushTests/`without both ids nothing is sent`(_:_:)"}
        {"rule":"adobe/G6","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) untracked-delivery"}
        {"rule":"adobe/G6","test":"PatchbayAdobeTests.PushTests/`a delivery that the server does not track is refused with 404`()"}
        {"rule":"adobe/G6","test":"PatchbayAdobeTests.RetryTests/`tracking and registrations take 200 alone`(_:_:)"}
        {"rule":"adobe/G7","test":"PatchbayAdobeTests.PushTests/`an id that would read as two is refused`(_:)"}
        {"rule":"adobe/I1","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) erasure"}
        {"rule":"adobe/I1","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) privacy"}
        {"rule":"adobe/I1","test":"PatchbayAdobeTests.RegistrationTests/`a denial of tracking and profile ends the identity, in either order`()"}
        {"rule":"adobe/I1","test":"PatchbayAdobeTests.RequestTests/`an identity is 38 digits and stays text`()"}
        {"rule":"adobe/I2","test":"PatchbayAdobeTests.PeopleTests/`a consent counts for every identity of the person`()"}
        {"rule":"adobe/I2","test":"PatchbayAdobeTests.PeopleTests/`a vendor that is left receives values under the identity that the app passed for their person`()"}
        {"rule":"adobe/I2","test":"PatchbayAdobeTests.PeopleTests/`an identity from the app is used again for its own person alone`()"}
        {"rule":"adobe/I2","test":"PatchbayAdobeTests.PeopleTests/`click and open carry one identity, and another identity has no values of the first`()"}
        {"rule":"adobe/I2","test":"PatchbayAdobeTests.RegistrationTests/`a denial of tracking and profile ends the identity, in either order`()"}
        {"rule":"adobe/I2","test":"PatchbayAdobeTests.RequestTests/`a tracking request, byte for byte`()"}
        {"rule":"adobe/I3","test":"PatchbayAdobeTests.ChangingFactsTests/`a registration for the next person never brings back a push token that the app replaced`(_:)"}
        {"rule":"adobe/I3","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) token-and-unregister"}
        {"rule":"adobe/I3","test":"PatchbayAdobeTests.PeopleTests/`a second rotation after an unanswered one ends with the newest token`()"}
        {"rule":"adobe/I3","test":"PatchbayAdobeTests.RequestTests/`a push token goes to the identity service, each time`()"}
        {"rule":"adobe/I4","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) identity-service-away"}
        {"rule":"adobe/I4","test":"PatchbayAdobeTests.RequestTests/`Android has words of its own, other services none`()"}
        {"rule":"adobe/I4","test":"PatchbayAdobeTests.RequestTests/`a push token goes to the identity service, each time`()"}
        {"rule":"adobe/I5","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) token-and-unregister"}
        {"rule":"adobe/I5","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) two-people-and-an-outage"}
        {"rule":"adobe/I5","test":"PatchbayAdobeTests.FieldTests/`an unregister takes the push token back`()"}
        {"rule":"adobe/I5","test":"PatchbayAdobeTests.PeopleTests/`nothing captured behind an unanswered erasure is posted under the erased identity`()"}
        {"rule":"adobe/I5","test":"PatchbayAdobeTests.RequestTests/`a push token goes to the identity service, each time`()"}
        {"rule":"adobe/I6","test":"PatchbayAdobeTests.RequestTests/`a push token goes to the identity service, each time`()"}
        {"rule":"adobe/I6","test":"PatchbayAdobeTests.RequestTests/`without an organisation the token is not told, and that is said`()"}
        {"rule":"adobe/I7","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) identity-service-away"}
        {"rule":"adobe/I7","test":"PatchbayAdobeTests.RetryTests/`the identity service takes 200 alone`()"}
        {"rule":"adobe/I8","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) privacy"}
        {"rule":"adobe/I8","test":"PatchbayAdobeTests.RegistrationTests/`a denial of tracking and profile ends the identity, in either order`()"}
        {"rule":"adobe/I9","test":"PatchbayAdobeTests.ClassicPeopleTests/`a malformed token is refused`()"}
        {"rule":"adobe/I9","test":"PatchbayAdobeTests.RequestTests/`a malformed token is refused, and the one before stays`(_:)"}
        {"rule":"adobe/I10","test":"PatchbayAdobeTests.ClassicPeopleTests/`what waited for a push token is not carried out for a person who left`()"}
        {"rule":"adobe/I10","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) two-people-and-an-outage"}
        {"rule":"adobe/I10","test":"PatchbayAdobeTests.PeopleTests/`what waited for one person is sent under that person's identity`()"}
        {"rule":"adobe/N1","test":"PatchbayAdobeTests.ClassicTests/`what no API takes is refused with a remedy`()"}
        {"rule":"adobe/N1","test":"PatchbayAdobeTests.FieldTests/`what no API takes is refused with a remedy`()"}
        {"rule":"adobe/N2","test":"PatchbayAdobeTests.FieldTests/`what no API takes is refused with a remedy`()"}
        {"rule":"adobe/N3","test":"PatchbayAdobeTests.ClassicTests/`what no API takes is refused with a remedy`()"}
        {"rule":"adobe/N3","test":"PatchbayAdobeTests.FieldTests/`what no API takes is refused with a remedy`()"}
        {"rule":"adobe/N4","test":"PatchbayAdobeTests.ChangingFactsTests/`the person after one who denied messages has the push token`(_:_:)"}
        {"rule":"adobe/N4","test":"PatchbayAdobeTests.ChangingFactsTests/`the person after one whose log-in was dropped has another identity`(_:)"}
        {"rule":"adobe/N4","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) two-people-and-an-outage"}
        {"rule":"adobe/N4","test":"PatchbayAdobeTests.PeopleTests/`a person whom the vendor has no field for has an identity, too`()"}
        {"rule":"adobe/N4","test":"PatchbayAdobeTests.PeopleTests/`each person has an identity, and the push token moves with the person`(_:)"}
        {"rule":"adobe/N5","test":"PatchbayAdobeTests.FieldTests/`what no API takes is refused with a remedy`()"}
        {"rule":"adobe/N6","test":"PatchbayAdobeTests.FieldTests/`an option is refused by name`()"}
        {"rule":"adobe/N7","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) token-and-unregister"}
        {"rule":"adobe/N7","test":"PatchbayAdobeTests.FieldTests/`an unregister takes the push token back`()"}
        {"rule":"adobe/N7","test":"PatchbayAdobeTests.PeopleTests/`an unregister comes last and covers every identity`(_:)"}
        {"rule":"adobe/P1","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) attributes-that-change"}
        {"rule":"adobe/P1","test":"PatchbayAdobeTests.RequestTests/`attributes, byte for byte`()"}
        {"rule":"adobe/P2","test":"PatchbayAdobeTests.FieldTests/`an attribute without a field is refused, and so are two for one`()"}
        {"rule":"adobe/P2","test":"PatchbayAdobeTests.RequestTests/`attributes, byte for byte`()"}
        {"rule":"adobe/P3","test":"PatchbayAdobeTests.FieldTests/`every value travels as a text`()"}
        {"rule":"adobe/P4","test":"PatchbayAdobeTests.FieldTests/`what a field can't hold is refused at its place`()"}
        {"rule":"adobe/P5","test":"PatchbayAdobeTests.ClassicTests/`attributes and tags are parameters`()"}
        {"rule":"adobe/P5","test":"PatchbayAdobeTests.FieldTests/`an empty change is refused`()"}
        {"rule":"adobe/P6","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) attributes-that-change"}
        {"rule":"adobe/P6","test":"PatchbayAdobeTests.FieldTests/`a value that the vendor took is left out`()"}
        {"rule":"adobe/P6","test":"PatchbayAdobeTests.PeopleTests/`another app at the vendor has no values of the first`()"}
        {"rule":"adobe/P7","test":"PatchbayAdobeTests.FieldTests/`an attribute is cleared by an empty text, or not at all`()"}
        {"rule":"adobe/P8","test":"PatchbayAdobeTests.FieldTests/`a tag is a field that says true or false`()"}
        {"rule":"adobe/P9","test":"PatchbayAdobeTests.FieldTests/`identifiers are fields that reconcile`()"}
        {"rule":"adobe/P10","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) attributes-that-change"}
        {"rule":"adobe/P10","test":"PatchbayAdobeTests.FieldTests/`a value that the vendor took is left out`()"}
        {"rule":"adobe/Q1","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) server-away"}
        {"rule":"adobe/Q1","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) sessions-judged-when-they-begin"}
        {"rule":"adobe/Q1","test":"PatchbayAdobeTests.RetryTests/`tracking and registrations share a queue, the rest goes beside it`()"}
        {"rule":"adobe/Q2","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) identity-service-away"}
        {"rule":"adobe/Q2","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) server-away"}
        {"rule":"adobe/Q2","test":"PatchbayAdobeTests.RetryTests/`tracking and registrations share a queue, the rest goes beside it`()"}
        {"rule":"adobe/Q3","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) no-network"}
        {"rule":"adobe/Q3","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) server-away"}
        {"rule":"adobe/Q3","test":"PatchbayAdobeTests.RetryTests/`attributes take every success`(_:_:)"}
        {"rule":"adobe/Q3","test":"PatchbayAdobeTests.RetryTests/`of the pause and Retry-After the longer one counts`()"}
        {"rule":"adobe/Q3","test":"PatchbayAdobeTests.RetryTests/`the identity service takes 200 alone`()"}
        {"rule":"adobe/Q3","test":"PatchbayAdobeTests.RetryTests/`the pause is 30 seconds, for ever, and the bytes are the same`()"}
        {"rule":"adobe/Q3","test":"PatchbayAdobeTests.RetryTests/`tracking and registrations take 200 alone`(_:_:)"}
        {"rule":"adobe/Q4","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) refused-registration"}
        {"rule":"adobe/Q4","test":"PatchbayAdobeTests.RegistrationTests/`an identity counts as registered before the answer`(_:)"}
        {"rule":"adobe/Q4","test":"PatchbayAdobeTests.RetryTests/`another success is a no, unless the settings say otherwise`()"}
        {"rule":"adobe/Q4","test":"PatchbayAdobeTests.RetryTests/`tracking and registrations take 200 alone`(_:_:)"}
        {"rule":"adobe/Q5","test":"PatchbayAdobeTests.RetryTests/`attributes take every success`(_:_:)"}
        {"rule":"adobe/Q5","test":"PatchbayAdobeTests.RetryTests/`tracking and registrations take 200 alone`(_:_:)"}
        {"rule":"adobe/Q6","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) as-on-ios"}
        {"rule":"adobe/Q6","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) no-network"}
        {"rule":"adobe/Q6","test":"PatchbayAdobeTests.RetryTests/`without an answer it is repeated, or treated as on iOS`()"}
        {"rule":"adobe/Q7","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) as-on-ios"}
        {"rule":"adobe/Q7","test":"PatchbayAdobeTests.RetryTests/`without an answer it is repeated, or treated as on iOS`()"}
        {"rule":"adobe/Q8","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) attributes-that-change"}
        {"rule":"adobe/Q8","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) old-postback"}
        {"rule":"adobe/Q8","test":"PatchbayAdobeTests.RetryTests/`attributes take every success`(_:_:)"}
        {"rule":"adobe/Q9","test":"PatchbayAdobeTests.ClassicTests/`without a token nothing is registered`()"}
        {"rule":"adobe/Q9","test":"PatchbayAdobeTests.RegistrationTests/`nothing leaves before the device is known`()"}
        {"rule":"adobe/Q10","test":"PatchbayAdobeTests.PushTests/`the same event twice is told twice`()"}
        {"rule":"adobe/Q11","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) sign-in-page"}
        {"rule":"adobe/Q11","test":"PatchbayAdobeTests.RetryTests/`a sign-in page is no registration, and a redirect of the tracking server is a success`()"}
        {"rule":"adobe/Q12","test":"PatchbayAdobeTests.RetryTests/`a sign-in page is no registration, and a redirect of the tracking server is a success`()"}
        {"rule":"adobe/R1","test":"PatchbayAdobeTests.RequestTests/`a registration, byte for byte`()"}
        {"rule":"adobe/R2","test":"PatchbayAdobeTests.RequestTests/`a registration, byte for byte`()"}
        {"rule":"adobe/R3","test":"PatchbayAdobeTests.RequestTests/`Android has words of its own, other services none`()"}
        {"rule":"adobe/R3","test":"PatchbayAdobeTests.RequestTests/`a registration, byte for byte`()"}
        {"rule":"adobe/R4","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) a-fortnight"}
        {"rule":"adobe/R4","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) erasure"}
        {"rule":"adobe/R4","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) pause"}
        {"rule":"adobe/R4","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) privacy"}
        {"rule":"adobe/R4","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) refused-registration"}
        {"rule":"adobe/R4","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) server-away"}
        {"rule":"adobe/R4","test":"PatchbayAdobeTests.RegistrationTests/`a denial of tracking and profile ends the identity, in either order`()"}
        {"rule":"adobe/R4","test":"PatchbayAdobeTests.RegistrationTests/`a new identity registers at once, and again when the delay is over`()"}
        {"rule":"adobe/R4","test":"PatchbayAdobeTests.RegistrationTests/`an identity counts as registered before the answer`(_:)"}
        {"rule":"adobe/R5","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) a-fortnight"}
        {"rule":"adobe/R5","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) a-fortnight-mended"}
        {"rule":"adobe/R5","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) refused-registration"}
        {"rule":"adobe/R5","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) sessions-judged-when-they-begin"}
        {"rule":"adobe/R5","test":"PatchbayAdobeTests.RegistrationTests/`a delay of 0 registers at each session`()"}
        {"rule":"adobe/R5","test":"PatchbayAdobeTests.RegistrationTests/`a new identity registers at once, and again when the delay is over`()"}
        {"rule":"adobe/R5","test":"PatchbayAdobeTests.RegistrationTests/`a session is judged by what was known when it began`()"}
        {"rule":"adobe/R5","test":"PatchbayAdobeTests.RegistrationTests/`a session that begins while a click is in flight registers when it is due`()"}
        {"rule":"adobe/R6","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) pause"}
        {"rule":"adobe/R6","test":"PatchbayAdobeTests.RegistrationTests/`a pause sends nothing and remembers nothing`()"}
        {"rule":"adobe/R7","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) a-fortnight"}
        {"rule":"adobe/R7","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) a-fortnight-mended"}
        {"rule":"adobe/R7","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) refused-registration"}
        {"rule":"adobe/R7","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) sessions-judged-when-they-begin"}
        {"rule":"adobe/R7","test":"PatchbayAdobeTests.RegistrationTests/`a push event postpones the registration, unless the settings say otherwise`(_:_:)"}
        {"rule":"adobe/R7","test":"PatchbayAdobeTests.RegistrationTests/`a session is judged by what was known when it began`()"}
        {"rule":"adobe/R7","test":"PatchbayAdobeTests.RegistrationTests/`a session that begins while a click is in flight registers when it is due`()"}
        {"rule":"adobe/R8","test":"PatchbayAdobeTests.RegistrationTests/`without pkey nothing is registered, and tracking goes on`()"}
        {"rule":"adobe/S1","test":"PatchbayAdobeTests.RequestTests/`a server is a bare host, and a sandbox takes the place of all hosts`()"}
        {"rule":"adobe/S1","test":"PatchbayAdobeTests.RequestTests/`a tracking request, byte for byte`()"}
        {"rule":"adobe/S2","test":"PatchbayAdobeTests.RequestTests/`a server is a bare host, and a sandbox takes the place of all hosts`()"}
        {"rule":"adobe/S3","test":"PatchbayAdobeTests.ClassicTests/`without a token nothing is registered`()"}
        {"rule":"adobe/S3","test":"PatchbayAdobeTests.RequestTests/`Android has words of its own, other services none`()"}
        {"rule":"adobe/T1","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) tap-cut-in-two"}
        {"rule":"adobe/T1","test":"PatchbayAdobeTests.RequestTests/`a tracking request, byte for byte`()"}
        {"rule":"adobe/T2","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) tap-cut-in-two"}
        {"rule":"adobe/T2","test":"PatchbayAdobeTests.PushTests/`a tapped message is a click and then an open of the same ids`(_:)"}
        {"rule":"adobe/T2","test":"PatchbayAdobeTests.RequestTests/`a tracking request, byte for byte`()"}
        {"rule":"adobe/T3","test":"PatchbayAdobeTests.RequestTests/`a tracking request, byte for byte`()"}
        {"rule":"adobe/T4","test":"PatchbayAdobeTests.RequestTests/`a tracking request, byte for byte`()"}
        {"rule":"adobe/T5","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) old-postback"}
        {"rule":"adobe/T5","test":"PatchbayAdobeTests.RequestTests/`the postback of old SDKs takes the request's place`()"}
        {"rule":"adobe/T6","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) old-postback"}
        {"rule":"adobe/T6","test":"PatchbayAdobeTests.RequestTests/`the postback of old SDKs takes the request's place`()"}
        {"rule":"adobe/V1","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) privacy"}
        {"rule":"adobe/V1","test":"PatchbayAdobeTests.RegistrationTests/`without the person's word tracking is dropped, and the rest waits`()"}
        {"rule":"adobe/V2","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) privacy"}
        {"rule":"adobe/V2","test":"PatchbayAdobeTests.RegistrationTests/`without the person's word tracking is dropped, and the rest waits`()"}
        {"rule":"adobe/V3","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) privacy"}
        {"rule":"adobe/V3","test":"PatchbayAdobeTests.RegistrationTests/`a denial of tracking and profile ends the identity, in either order`()"}
        {"rule":"adobe/V4","test":"PatchbayAdobeTests.ClassicConformanceTests/converses(_:) an-opt-out"}
        {"rule":"adobe/V4","test":"PatchbayAdobeTests.ClassicTests/`an opt-out forgets the person and what the vendor took`()"}
        {"rule":"adobe/V4","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) privacy"}
        {"rule":"adobe/V4","test":"PatchbayAdobeTests.RegistrationTests/`other decisions change nothing, and an erasure begins again`()"}
        {"rule":"adobe/V5","test":"PatchbayAdobeTests.ChangingFactsTests/`a push token that is registered behind an unanswered erasure survives it`()"}
        {"rule":"adobe/V5","test":"PatchbayAdobeTests.ClassicChangingFactsTests/`what is captured behind an unanswered erasure survives it`(_:)"}
        {"rule":"adobe/V5","test":"PatchbayAdobeTests.ClassicTests/`an opt-out forgets the person and what the vendor took`()"}
        {"rule":"adobe/V5","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) erasure"}
        {"rule":"adobe/V5","test":"PatchbayAdobeTests.RegistrationTests/`other decisions change nothing, and an erasure begins again`()"}
        {"rule":"adobe/V6","test":"PatchbayAdobeTests.ChangingFactsTests/`a denial of messages counts again when the person comes back`(_:)"}
        {"rule":"adobe/V6","test":"PatchbayAdobeTests.ChangingFactsTests/`the push token is not sent before a required consent to messages`()"}
        {"rule":"adobe/V6","test":"PatchbayAdobeTests.ClassicChangingFactsTests/`a denial of messages counts again when the person comes back`(_:)"}
        {"rule":"adobe/V6","test":"PatchbayAdobeTests.ClassicChangingFactsTests/`no person is registered before a required consent to messages`(_:)"}
        {"rule":"adobe/V6","test":"PatchbayAdobeTests.ClassicPeopleTests/`messages granted again register the person again`()"}
        {"rule":"adobe/V6","test":"PatchbayAdobeTests.ClassicPeopleTests/`opt-outs, erasures and the unregister take the person off the device`()"}
        {"rule":"adobe/V6","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) privacy"}
        {"rule":"adobe/V6","test":"PatchbayAdobeTests.ConformanceTests/converses(_:) two-people-and-an-outage"}
        {"rule":"adobe/V6","test":"PatchbayAdobeTests.PeopleTests/`an opt-out captured behind an unanswered erasure survives it`()"}
        {"rule":"adobe/V6","test":"PatchbayAdobeTests.RegistrationTests/`a denial of tracking and profile ends the identity, in either order`()"}
        {"rule":"adobe/V6","test":"PatchbayAdobeTests.RegistrationTests/`a denial on push takes the push token back, and a grant sends it again`(_:)"}
        {"rule":"adobe/V6","test":"PatchbayAdobeTests.RegistrationTests/`nothing is registered without consent to the profile`()"}
        {"rule":"altcraft/A1","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) role-token"}
        {"rule":"altcraft/A1","test":"PatchbayAltcraftTests.CredentialTests/`a role token wins over the contact's token`()"}
        {"rule":"altcraft/A2","test":"PatchbayAltcraftTests.CredentialTests/`the claim is text or an object, and its matching mode passes unchanged`()"}
        {"rule":"altcraft/A3","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) person-gone"}
        {"rule":"altcraft/A3","test":"PatchbayAltcraftTests.CredentialTests/`a credential that can't be used lets the operation wait`(_:_:_:)"}
        {"rule":"altcraft/A4","test":"PatchbayAltcraftTests.CredentialTests/`a credential that can't be used lets the operation wait`(_:_:_:)"}
        {"rule":"altcraft/A5","test":"PatchbayAltcraftTests.CredentialTests/`a credential that can't be used lets the operation wait`(_:_:_:)"}
        {"rule":"altcraft/A6","test":"PatchbayAltcraftTests.CredentialTests/`a credential that can't be used lets the operation wait`(_:_:_:)"}
        {"rule":"altcraft/A7","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) log-in-and-out"}
        {"rule":"altcraft/A7","test":"PatchbayAltcraftTests.CredentialTests/`the claim is text or an object, and its matching mode passes unchanged`()"}
        {"rule":"altcraft/A8","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) role-token"}
        {"rule":"altcraft/A8","test":"PatchbayAltcraftTests.CredentialTests/`a role token wins over the contact's token`()"}
        {"rule":"altcraft/A9","test":"PatchbayAltcraftTests.CredentialTests/`a credential that can't be used lets the operation wait`(_:_:_:)"}
        {"rule":"altcraft/A10","test":"PatchbayAltcraftTests.CredentialTests/`a role token that no header can hold is refused in the configuration`()"}
        {"rule":"altcraft/B1","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) crash-in-mid-flight"}
        {"rule":"altcraft/B1","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) retry-ladder"}
        {"rule":"altcraft/B1","test":"PatchbayAltcraftTests.RequestTests/`a moment before 1970 is refused`()"}
        {"rule":"altcraft/B1","test":"PatchbayAltcraftTests.RequestTests/`the three calls differ in the status alone`(_:)"}
        {"rule":"altcraft/B2","test":"PatchbayAltcraftTests.RequestTests/`the three calls differ in the status alone`(_:)"}
        {"rule":"altcraft/B3","test":"PatchbayAltcraftTests.RequestTests/`the three calls differ in the status alone`(_:)"}
        {"rule":"altcraft/B3","test":"PatchbayAltcraftTests.SubscriptionTests/`what has no place is refused, all at once`()"}
        {"rule":"altcraft/B4","test":"PatchbayAltcraftTests.RequestTests/`the three calls differ in the status alone`(_:)"}
        {"rule":"altcraft/B5","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) topics-leave-the-status"}
        {"rule":"altcraft/B5","test":"PatchbayAltcraftTests.RequestTests/`the three calls differ in the status alone`(_:)"}
        {"rule":"altcraft/B5","test":"PatchbayAltcraftTests.SubscriptionTests/`a topic is a category, and the subscription stays as it is`()"}
        {"rule":"altcraft/B6","test":"PatchbayAltcraftTests.RequestTests/`the six parameters travel, and the caller's fields win`()"}
        {"rule":"altcraft/B7","test":"PatchbayAltcraftTests.RequestTests/`the three calls differ in the status alone`(_:)"}
        {"rule":"altcraft/B8","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) token-rotation"}
        {"rule":"altcraft/B8","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) token-rotation-in-uncertainty"}
        {"rule":"altcraft/B8","test":"PatchbayAltcraftTests.SubscriptionTests/`a token that changed is told before anything else uses it`()"}
        {"rule":"altcraft/B9","test":"PatchbayAltcraftTests.RequestTests/`a change of person releases the suspension first`()"}
        {"rule":"altcraft/B10","test":"PatchbayAltcraftTests.ProfileTests/`attributes become profile fields of any JSON`()"}
        {"rule":"altcraft/B10","test":"PatchbayAltcraftTests.ProfileTests/`options are checked all at once`()"}
        {"rule":"altcraft/B11","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) topics-leave-the-status"}
        {"rule":"altcraft/B11","test":"PatchbayAltcraftTests.SubscriptionTests/`a topic is a category, and the subscription stays as it is`()"}
        {"rule":"altcraft/B12","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) topics-leave-the-status"}
        {"rule":"altcraft/B12","test":"PatchbayAltcraftTests.SubscriptionTests/`a topic is a category, and the subscription stays as it is`()"}
        {"rule":"altcraft/B13","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) sync-both-ways"}
        {"rule":"altcraft/B13","test":"PatchbayAltcraftTests.SimulatorTests/`replace unsubscribes other profiles of the database that have the token`()"}
        {"rule":"altcraft/B14","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) sync-both-ways"}
        {"rule":"altcraft/B14","test":"PatchbayAltcraftTests.SimulatorTests/`replace unsubscribes other profiles of the database that have the token`()"}
        {"rule":"altcraft/B15","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) leaving-and-coming-back"}
        {"rule":"altcraft/B15","test":"PatchbayAltcraftTests.SubscriptionTests/`a suspension records no opt-out, an opt-out does`()"}
        {"rule":"altcraft/B16","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) topics-whole-list"}
        {"rule":"altcraft/B16","test":"PatchbayAltcraftTests.SubscriptionTests/`where a list replaces the stored one, the whole list is sent`()"}
        {"rule":"altcraft/E1","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) leaving-and-coming-back"}
        {"rule":"altcraft/E1","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) left-during-an-outage"}
        {"rule":"altcraft/E1","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) unregister-then-registration"}
        {"rule":"altcraft/E1","test":"PatchbayAltcraftTests.SubscriptionTests/`leaving suspends under the token that the vendor knows`()"}
        {"rule":"altcraft/E2","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) erasure-during-an-outage"}
        {"rule":"altcraft/E2","test":"PatchbayAltcraftTests.ChangingFactsTests/`an erasure unsubscribes the person before everything is forgotten`(status:)"}
        {"rule":"altcraft/E2","test":"PatchbayAltcraftTests.ProfileTests/`consent is kept, and erasing names the step that a person must do`()"}
        {"rule":"altcraft/E3","test":"PatchbayAltcraftTests.ProfileTests/`consent is kept, and erasing names the step that a person must do`()"}
        {"rule":"altcraft/E3","test":"PatchbayAltcraftTests.RecordTests/`nobody is subscribed who did not say so`()"}
        {"rule":"altcraft/E4","test":"PatchbayAltcraftTests.ProfileTests/`identity stands in the credential; fields are a setting`()"}
        {"rule":"altcraft/E5","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) leaving-and-coming-back"}
        {"rule":"altcraft/E5","test":"PatchbayAltcraftTests.SubscriptionTests/`leaving never touches an opt-out, and asks where nobody knows`()"}
        {"rule":"altcraft/E6","test":"PatchbayAltcraftTests.ChangingFactsTests/`an unregister is the last request, and nothing that waits subscribes anybody after it`()"}
        {"rule":"altcraft/E7","test":"PatchbayAltcraftTests.ChangingFactsTests/`a withdrawn permission suspends the subscription, and a given one subscribes again`()"}
        {"rule":"altcraft/F1","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) events-and-fields"}
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
        {"rule":"altcraft/F8","test":"PatchbayAltcraftTests.ServerTests/`a number grows once`()"}
        {"rule":"altcraft/F9","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) tags-in-two-requests"}
        {"rule":"altcraft/F9","test":"PatchbayAltcraftTests.ProfileTests/`a change is written in its field's form`(_:_:_:)"}
        {"rule":"altcraft/F9","test":"PatchbayAltcraftTests.ProfileTests/`tags are deleted first, then added`()"}
        {"rule":"altcraft/F9","test":"PatchbayAltcraftTests.ProfileTests/`what does not fit is left out, and the rest goes`(_:_:_:)"}
        {"rule":"altcraft/F9","test":"PatchbayAltcraftTests.ServerTests/`a contact has one profile in a request, and a field one instruction`()"}
        {"rule":"altcraft/F10","test":"PatchbayAltcraftTests.ProfileTests/`an instruction that the vendor does not know is refused`()"}
        {"rule":"altcraft/F10","test":"PatchbayAltcraftTests.ProfileTests/`what does not fit is left out, and the rest goes`(_:_:_:)"}
        {"rule":"altcraft/F11","test":"PatchbayAltcraftTests.ProfileTests/`a change is written in its field's form`(_:_:_:)"}
        {"rule":"altcraft/F11","test":"PatchbayAltcraftTests.ProfileTests/`what does not fit is left out, and the rest goes`(_:_:_:)"}
        {"rule":"altcraft/F12","test":"PatchbayAltcraftTests.ProfileTests/`a change is written in its field's form`(_:_:_:)"}
        {"rule":"altcraft/F12","test":"PatchbayAltcraftTests.ProfileTests/`what does not fit is left out, and the rest goes`(_:_:_:)"}
        {"rule":"altcraft/F12","test":"PatchbayAltcraftTests.RecordTests/`what has no home is named`()"}
        {"rule":"altcraft/F13","test":"PatchbayAltcraftTests.ProfileTests/`a change is written in its field's form`(_:_:_:)"}
        {"rule":"altcraft/F13","test":"PatchbayAltcraftTests.ProfileTests/`what does not fit is left out, and the rest goes`(_:_:_:)"}
        {"rule":"altcraft/F14","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) role-token"}
        {"rule":"altcraft/F14","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) tags-in-two-requests"}
        {"rule":"altcraft/F14","test":"PatchbayAltcraftTests.ProfileTests/`tags are deleted first, then added`()"}
        {"rule":"altcraft/F14","test":"PatchbayAltcraftTests.RecordTests/`what has no home is named`()"}
        {"rule":"altcraft/F14","test":"PatchbayAltcraftTests.ServerTests/`a contact has one profile in a request, and a field one instruction`()"}
        {"rule":"altcraft/F15","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) refused-once"}
        {"rule":"altcraft/F15","test":"PatchbayAltcraftTests.ReplyTests/`a known complaint names the field and its place`()"}
        {"rule":"altcraft/F15","test":"PatchbayAltcraftTests.ServerTests/`each profile has its verdict`()"}
        {"rule":"altcraft/F16","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) refused-once"}
        {"rule":"altcraft/F16","test":"PatchbayAltcraftTests.ReplyTests/`a known complaint names the field and its place`()"}
        {"rule":"altcraft/F17","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) refused-once"}
        {"rule":"altcraft/F17","test":"PatchbayAltcraftTests.ReplyTests/`a known complaint names the field and its place`()"}
        {"rule":"altcraft/F18","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) sync-both-ways"}
        {"rule":"altcraft/F18","test":"PatchbayAltcraftTests.ProfileTests/`options are checked all at once`()"}
        {"rule":"altcraft/F18","test":"PatchbayAltcraftTests.RequestTests/`the six parameters travel, and the caller's fields win`()"}
        {"rule":"altcraft/F19","test":"PatchbayAltcraftTests.ProfileTests/`a change is written in its field's form`(_:_:_:)"}
        {"rule":"altcraft/F19","test":"PatchbayAltcraftTests.ProfileTests/`what does not fit is left out, and the rest goes`(_:_:_:)"}
        {"rule":"altcraft/F19","test":"PatchbayAltcraftTests.RecordTests/`a line finds its profile by the chosen matching`()"}
        {"rule":"altcraft/F19","test":"PatchbayAltcraftTests.RecordTests/`a value that is written otherwise is noted`()"}
        {"rule":"altcraft/F19","test":"PatchbayAltcraftTests.ServerTests/`identifiers are fields, and the key can't be changed`()"}
        {"rule":"altcraft/F20","test":"PatchbayAltcraftTests.ProfileTests/`attributes become profile fields of any JSON`()"}
        {"rule":"altcraft/F20","test":"PatchbayAltcraftTests.RecordTests/`a value that is written otherwise is noted`()"}
        {"rule":"altcraft/F20","test":"PatchbayAltcraftTests.RecordTests/`what has no home is named`()"}
        {"rule":"altcraft/F20","test":"PatchbayAltcraftTests.ServerTests/`identifiers are fields, and the key can't be changed`()"}
        {"rule":"altcraft/F21","test":"PatchbayAltcraftTests.ProfileTests/`a change is written in its field's form`(_:_:_:)"}
        {"rule":"altcraft/F22","test":"PatchbayAltcraftTests.ProfileTests/`a change is written in its field's form`(_:_:_:)"}
        {"rule":"altcraft/F23","test":"PatchbayAltcraftTests.ProfileTests/`what becomes of a null is a setting, and is told`()"}
        {"rule":"altcraft/F24","test":"PatchbayAltcraftTests.ProfileTests/`an instruction that the vendor does not know is refused`()"}
        {"rule":"altcraft/F25","test":"PatchbayAltcraftTests.ProfileTests/`what has no name is refused at its place`()"}
        {"rule":"altcraft/H1","test":"PatchbayAltcraftTests.RequestTests/`the three calls differ in the status alone`(_:)"}
        {"rule":"altcraft/H2","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) crash-in-mid-flight"}
        {"rule":"altcraft/H2","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) log-in-then-busy"}
        {"rule":"altcraft/H2","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) retry-ladder"}
        {"rule":"altcraft/H2","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) tags-in-two-requests"}
        {"rule":"altcraft/H2","test":"PatchbayAltcraftTests.RequestTests/`each request of an operation has an id of its own, the same on every repeat`()"}
        {"rule":"altcraft/H2","test":"PatchbayAltcraftTests.RequestTests/`the three calls differ in the status alone`(_:)"}
        {"rule":"altcraft/H3","test":"PatchbayAltcraftTests.RequestTests/`the three calls differ in the status alone`(_:)"}
        {"rule":"altcraft/L1","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) log-in-and-out"}
        {"rule":"altcraft/L1","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) log-in-killed"}
        {"rule":"altcraft/L1","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) token-rotation-two-databases"}
        {"rule":"altcraft/L1","test":"PatchbayAltcraftTests.LogInTests/`a first log-in suspends the visitor and subscribes the person`()"}
        {"rule":"altcraft/L1","test":"PatchbayAltcraftTests.RequestTests/`a change of person releases the suspension first`()"}
        {"rule":"altcraft/L2","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) log-in-and-out"}
        {"rule":"altcraft/L2","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) log-in-killed-in-between"}
        {"rule":"altcraft/L2","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) log-in-then-busy"}
        {"rule":"altcraft/L2","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) token-rotation-two-databases"}
        {"rule":"altcraft/L2","test":"PatchbayAltcraftTests.LogInTests/`a first log-in suspends the visitor and subscribes the person`()"}
        {"rule":"altcraft/L3","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) log-in-asked-in-vain"}
        {"rule":"altcraft/L3","test":"PatchbayAltcraftTests.LogInTests/`without a clear answer nobody is subscribed`()"}
        {"rule":"altcraft/L3","test":"PatchbayAltcraftTests.ReplyTests/`a change of person and a question are never repeated by themselves`()"}
        {"rule":"altcraft/L4","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) role-token"}
        {"rule":"altcraft/L4","test":"PatchbayAltcraftTests.CredentialTests/`with a role token nobody logs in`()"}
        {"rule":"altcraft/L5","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) log-in-and-out"}
        {"rule":"altcraft/L5","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) token-rotation-two-databases"}
        {"rule":"altcraft/L5","test":"PatchbayAltcraftTests.LogInTests/`a first log-in suspends the visitor and subscribes the person`()"}
        {"rule":"altcraft/L5","test":"PatchbayAltcraftTests.LogInTests/`a log-out gives the push token back to the visitor`()"}
        {"rule":"altcraft/L6","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) log-in-and-out"}
        {"rule":"altcraft/L6","test":"PatchbayAltcraftTests.LogInTests/`a log-out gives the push token back to the visitor`()"}
        {"rule":"altcraft/L7","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) log-in-and-out"}
        {"rule":"altcraft/L7","test":"PatchbayAltcraftTests.LogInTests/`a first log-in suspends the visitor and subscribes the person`()"}
        {"rule":"altcraft/L8","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) log-in-and-out"}
        {"rule":"altcraft/L8","test":"PatchbayAltcraftTests.LogInTests/`a log-out gives the push token back to the visitor`()"}
        {"rule":"altcraft/L8","test":"PatchbayAltcraftTests.LogInTests/`whoever opted out is not subscribed by a log-in`()"}
        {"rule":"altcraft/L9","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) log-in-and-out"}
        {"rule":"altcraft/L9","test":"PatchbayAltcraftTests.LogInTests/`a first log-in suspends the visitor and subscribes the person`()"}
        {"rule":"altcraft/L10","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) overtaken-log-in"}
        {"rule":"altcraft/L10","test":"PatchbayAltcraftTests.ChangingFactsTests/`a log-in that a later log-out has overtaken subscribes nobody`()"}
        {"rule":"altcraft/L11","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) log-out-without-consent"}
        {"rule":"altcraft/L11","test":"PatchbayAltcraftTests.PushConsentTests/`a denial keeps the log-out and subscribes no person; a later grant does`()"}
        {"rule":"altcraft/L11","test":"PatchbayAltcraftTests.PushConsentTests/`a log-out ends what reaches the person before, and subscribes no person before the answer`()"}
        {"rule":"altcraft/L11","test":"PatchbayAltcraftTests.PushConsentTests/`a subscription that the release would resume is ended first, and comes back with the consent`()"}
        {"rule":"altcraft/L12","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) log-in"}
        {"rule":"altcraft/L12","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) log-in-interrupted"}
        {"rule":"altcraft/L12","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) log-in-killed"}
        {"rule":"altcraft/L12","test":"PatchbayAltcraftTests.LogInTests/`a log-in that was not sent, or that the vendor had no time for, is tried again`()"}
        {"rule":"altcraft/L12","test":"PatchbayAltcraftTests.PushConsentTests/`a change of person is tried again as long as the vendor reaches the person before`(_:)"}
        {"rule":"altcraft/L13","test":"PatchbayAltcraftTests.ChangingFactsTests/`an opt-out before a log-in counts for the person who logs in`(isOnline:)"}
        {"rule":"altcraft/L14","test":"PatchbayAltcraftTests.ChangingFactsTests/`a denial of messages ends the subscription, and a grant subscribes again`()"}
        {"rule":"altcraft/L14","test":"PatchbayAltcraftTests.ChangingFactsTests/`a denied profile suspends the subscription, and a grant subscribes again`(_:)"}
        {"rule":"altcraft/M1","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) events-and-fields"}
        {"rule":"altcraft/M1","test":"PatchbayAltcraftTests.RequestTests/`an event that can't be sent is refused with all its faults`()"}
        {"rule":"altcraft/M2","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) events-and-fields"}
        {"rule":"altcraft/M2","test":"PatchbayAltcraftTests.RequestTests/`a custom event is a form in a fixed order`()"}
        {"rule":"altcraft/M3","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) events-and-fields"}
        {"rule":"altcraft/M3","test":"PatchbayAltcraftTests.RequestTests/`a custom event is a form in a fixed order`()"}
        {"rule":"altcraft/M3","test":"PatchbayAltcraftTests.RequestTests/`an event that can't be sent is refused with all its faults`()"}
        {"rule":"altcraft/M4","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) events-and-fields"}
        {"rule":"altcraft/M4","test":"PatchbayAltcraftTests.RequestTests/`a custom event is a form in a fixed order`()"}
        {"rule":"altcraft/M5","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) events-and-fields"}
        {"rule":"altcraft/M5","test":"PatchbayAltcraftTests.RequestTests/`a custom event is a form in a fixed order`()"}
        {"rule":"altcraft/M5","test":"PatchbayAltcraftTests.RequestTests/`an event that can't be sent is refused with all its faults`()"}
        {"rule":"altcraft/M6","test":"PatchbayAltcraftTests.RequestTests/`a custom event is a form in a fixed order`()"}
        {"rule":"altcraft/M7","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) events-and-fields"}
        {"rule":"altcraft/M7","test":"PatchbayAltcraftTests.RequestTests/`a custom event is a form in a fixed order`()"}
        {"rule":"altcraft/M7","test":"PatchbayAltcraftTests.RequestTests/`an event may name pixel and client id, and the message's form is a setting`()"}
        {"rule":"altcraft/M8","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) events-and-fields"}
        {"rule":"altcraft/M8","test":"PatchbayAltcraftTests.ProfileTests/`an event attaches a subscription of one of four forms`(_:_:)"}
        {"rule":"altcraft/M9","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) events-and-fields"}
        {"rule":"altcraft/M9","test":"PatchbayAltcraftTests.RequestTests/`a custom event is a form in a fixed order`()"}
        {"rule":"altcraft/M10","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) events-and-fields"}
        {"rule":"altcraft/M10","test":"PatchbayAltcraftTests.RequestTests/`an event may name pixel and client id, and the message's form is a setting`()"}
        {"rule":"altcraft/M11","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) events-and-fields"}
        {"rule":"altcraft/M11","test":"PatchbayAltcraftTests.RequestTests/`an event whose time zone nobody knows says so`()"}
        {"rule":"altcraft/M12","test":"PatchbayAltcraftTests.CredentialTests/`with a role token an event says whose fields it carries`()"}
        {"rule":"altcraft/P1","test":"PatchbayAltcraftTests.RequestTests/`a push is known again by its payload`()"}
        {"rule":"altcraft/P1","test":"PatchbayAltcraftTests.ServerTests/`a push is told by its uid and a number`()"}
        {"rule":"altcraft/P2","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) pushes-independent"}
        {"rule":"altcraft/P2","test":"PatchbayAltcraftTests.RequestTests/`a push event has two fields, its kind in the path and a queue of its own`()"}
        {"rule":"altcraft/P2","test":"PatchbayAltcraftTests.RequestTests/`a push is known again by its payload`()"}
        {"rule":"altcraft/P3","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) pushes-independent"}
        {"rule":"altcraft/P3","test":"PatchbayAltcraftTests.RequestTests/`a push event has two fields, its kind in the path and a queue of its own`()"}
        {"rule":"altcraft/P3","test":"PatchbayAltcraftTests.RequestTests/`a push is known again by its payload`()"}
        {"rule":"altcraft/P3","test":"PatchbayAltcraftTests.ServerTests/`a push is told by its uid and a number`()"}
        {"rule":"altcraft/P4","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) pushes-independent"}
        {"rule":"altcraft/P4","test":"PatchbayAltcraftTests.RequestTests/`a push event has two fields, its kind in the path and a queue of its own`()"}
        {"rule":"altcraft/P5","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) pushes-independent"}
        {"rule":"altcraft/P5","test":"PatchbayAltcraftTests.RequestTests/`a push event has two fields, its kind in the path and a queue of its own`()"}
        {"rule":"altcraft/Q1","test":"PatchbayAltcraftTests.RequestTests/`an address with a query keeps it`()"}
        {"rule":"altcraft/Q2","test":"PatchbayAltcraftTests.RequestTests/`the three calls differ in the status alone`(_:)"}
        {"rule":"altcraft/Q3","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) role-token"}
        {"rule":"altcraft/Q3","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) token-rotation"}
        {"rule":"altcraft/Q3","test":"PatchbayAltcraftTests.CredentialTests/`a role token wins over the contact's token`()"}
        {"rule":"altcraft/Q3","test":"PatchbayAltcraftTests.SubscriptionTests/`a token that changed is told before anything else uses it`()"}
        {"rule":"altcraft/Q4","test":"PatchbayAltcraftTests.RequestTests/`a change of person releases the suspension first`()"}
        {"rule":"altcraft/Q4","test":"PatchbayAltcraftTests.RequestTests/`whether a release names the matching mode is a setting`()"}
        {"rule":"altcraft/Q5","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) status-reads"}
        {"rule":"altcraft/Q5","test":"PatchbayAltcraftTests.RequestTests/`a question names what it asks for`(_:_:)"}
        {"rule":"altcraft/Q5","test":"PatchbayAltcraftTests.RequestTests/`a question that can't be asked is refused`()"}
        {"rule":"altcraft/Q6","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) pushes-independent"}
        {"rule":"altcraft/Q6","test":"PatchbayAltcraftTests.RequestTests/`a push event has two fields, its kind in the path and a queue of its own`()"}
        {"rule":"altcraft/Q7","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) events-and-fields"}
        {"rule":"altcraft/Q7","test":"PatchbayAltcraftTests.RequestTests/`a custom event is a form in a fixed order`()"}
        {"rule":"altcraft/Q8","test":"PatchbayAltcraftTests.ProfileTests/`attributes become profile fields of any JSON`()"}
        {"rule":"altcraft/Q8","test":"PatchbayAltcraftTests.ProfileTests/`profile fields in a subscription request never change what the person wants`()"}
        {"rule":"altcraft/Q9","test":"PatchbayAltcraftTests.RequestTests/`the three calls differ in the status alone`(_:)"}
        {"rule":"altcraft/Q10","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) sync-both-ways"}
        {"rule":"altcraft/Q10","test":"PatchbayAltcraftTests.RequestTests/`the three calls differ in the status alone`(_:)"}
        {"rule":"altcraft/Q11","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) role-token"}
        {"rule":"altcraft/Q11","test":"PatchbayAltcraftTests.CredentialTests/`with a role token attributes go where the push token is named`()"}
        {"rule":"altcraft/Q12","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) status-reads"}
        {"rule":"altcraft/Q12","test":"PatchbayAltcraftTests.RequestTests/`a question names what it asks for`(_:_:)"}
        {"rule":"altcraft/R1","test":"PatchbayAltcraftTests.ReplyTests/`the status alone decides`(_:_:)"}
        {"rule":"altcraft/R2","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) log-in-then-busy"}
        {"rule":"altcraft/R2","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) retry-after"}
        {"rule":"altcraft/R2","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) retry-ladder"}
        {"rule":"altcraft/R2","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) retry-sixteen"}
        {"rule":"altcraft/R2","test":"PatchbayAltcraftTests.ReplyTests/`the status alone decides`(_:_:)"}
        {"rule":"altcraft/R3","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) retry-outage"}
        {"rule":"altcraft/R3","test":"PatchbayAltcraftTests.ReplyTests/`the status alone decides`(_:_:)"}
        {"rule":"altcraft/R4","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) refused-once"}
        {"rule":"altcraft/R4","test":"PatchbayAltcraftTests.ReplyTests/`the status alone decides`(_:_:)"}
        {"rule":"altcraft/R5","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) erasure-during-an-outage"}
        {"rule":"altcraft/R5","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) log-in-then-busy"}
        {"rule":"altcraft/R5","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) retry-after"}
        {"rule":"altcraft/R5","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) retry-ladder"}
        {"rule":"altcraft/R5","test":"PatchbayAltcraftTests.ReplyTests/`repeats climb a ladder that a wake restarts`()"}
        {"rule":"altcraft/R6","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) retry-woken"}
        {"rule":"altcraft/R6","test":"PatchbayAltcraftTests.ReplyTests/`repeats climb a ladder that a wake restarts`()"}
        {"rule":"altcraft/R7","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) retry-sixteen"}
        {"rule":"altcraft/R7","test":"PatchbayAltcraftTests.ChangingFactsTests/`captures during an outage do not shorten the intervals, and an opt-out is never given up`()"}
        {"rule":"altcraft/R7","test":"PatchbayAltcraftTests.ReplyTests/`sixteen answers end an operation, an outage never does`()"}
        {"rule":"altcraft/R8","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) log-in-asked-in-vain"}
        {"rule":"altcraft/R8","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) log-in-killed"}
        {"rule":"altcraft/R8","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) status-reads"}
        {"rule":"altcraft/R8","test":"PatchbayAltcraftTests.LogInTests/`without a clear answer nobody is subscribed`()"}
        {"rule":"altcraft/R8","test":"PatchbayAltcraftTests.ReplyTests/`a change of person and a question are never repeated by themselves`()"}
        {"rule":"altcraft/R9","test":"PatchbayAltcraftTests.ReplyTests/`an answer has types and both numbers`()"}
        {"rule":"altcraft/R9","test":"PatchbayAltcraftTests.ReplyTests/`an error number in a success is a refusal where the configuration says so`()"}
        {"rule":"altcraft/R10","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) unauthorised-rejected"}
        {"rule":"altcraft/R10","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) unauthorised-suspended"}
        {"rule":"altcraft/R10","test":"PatchbayAltcraftTests.ReplyTests/`a refused credential rejects or suspends by a setting`(_:)"}
        {"rule":"altcraft/R10","test":"PatchbayAltcraftTests.ReplyTests/`an expired credential waits for a fresh one, whose refusal is final`()"}
        {"rule":"altcraft/R11","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) log-in-and-out"}
        {"rule":"altcraft/R11","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) refused-once"}
        {"rule":"altcraft/R11","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) sync-both-ways"}
        {"rule":"altcraft/R11","test":"PatchbayAltcraftTests.ReplyTests/`an answer has types and both numbers`()"}
        {"rule":"altcraft/R12","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) log-in-then-busy"}
        {"rule":"altcraft/R12","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) person-gone"}
        {"rule":"altcraft/R12","test":"PatchbayAltcraftTests.ReplyTests/`a lost change is repeated before a later one leaves`()"}
        {"rule":"altcraft/R12","test":"PatchbayAltcraftTests.ReplyTests/`somebody who is gone hides nobody else`()"}
        {"rule":"altcraft/R13","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) sign-in-page"}
        {"rule":"altcraft/S1","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) status-reads"}
        {"rule":"altcraft/S1","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) sync-both-ways"}
        {"rule":"altcraft/S1","test":"PatchbayAltcraftTests.LogInTests/`what the vendor was told can be asked back`()"}
        {"rule":"altcraft/S1","test":"PatchbayAltcraftTests.ReplyTests/`an answer has types and both numbers`()"}
        {"rule":"altcraft/S2","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) sync-both-ways"}
        {"rule":"altcraft/S2","test":"PatchbayAltcraftTests.ReplyTests/`a call that is not synchronous is answered without a profile, and proves nothing`()"}
        {"rule":"altcraft/S3","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) refused-once"}
        {"rule":"altcraft/S3","test":"PatchbayAltcraftTests.ReplyTests/`each attempt that is repeated is told, and so is the final no`()"}
        {"rule":"altcraft/S4","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) retry-outage"}
        {"rule":"altcraft/S4","test":"PatchbayAltcraftTests.ReplyTests/`each attempt that is repeated is told, and so is the final no`()"}
        {"rule":"altcraft/S5","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) status-reads"}
        {"rule":"altcraft/S5","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) sync-both-ways"}
        {"rule":"altcraft/S5","test":"PatchbayAltcraftTests.LogInTests/`what the vendor was told can be asked back`()"}
        {"rule":"altcraft/S5","test":"PatchbayAltcraftTests.ReplyTests/`an answer has types and both numbers`()"}
        {"rule":"altcraft/S6","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) status-reads"}
        {"rule":"altcraft/S6","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) sync-both-ways"}
        {"rule":"altcraft/S6","test":"PatchbayAltcraftTests.LogInTests/`what the vendor was told can be asked back`()"}
        {"rule":"altcraft/S6","test":"PatchbayAltcraftTests.ReplyTests/`a category that the vendor keeps as it was is told`()"}
        {"rule":"altcraft/S6","test":"PatchbayAltcraftTests.ReplyTests/`an answer has types and both numbers`()"}
        {"rule":"altcraft/S7","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) status-reads"}
        {"rule":"altcraft/S7","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) topics-leave-the-status"}
        {"rule":"altcraft/S7","test":"PatchbayAltcraftTests.LogInTests/`what the vendor was told can be asked back`()"}
        {"rule":"altcraft/S8","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) log-in-then-busy"}
        {"rule":"altcraft/S8","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) retry-ladder"}
        {"rule":"altcraft/S8","test":"PatchbayAltcraftTests.ReplyTests/`each attempt that is repeated is told, and so is the final no`()"}
        {"rule":"altcraft/S9","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) sync-both-ways"}
        {"rule":"altcraft/S9","test":"PatchbayAltcraftTests.ReplyTests/`a category that the vendor keeps as it was is told`()"}
        {"rule":"altcraft/T1","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) token-rotation"}
        {"rule":"altcraft/T1","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) token-rotation-in-uncertainty"}
        {"rule":"altcraft/T1","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) token-rotation-twice"}
        {"rule":"altcraft/T1","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) token-rotation-two-databases"}
        {"rule":"altcraft/T1","test":"PatchbayAltcraftTests.SubscriptionTests/`a token that changed is told before anything else uses it`()"}
        {"rule":"altcraft/T2","test":"PatchbayAltcraftTests.SubscriptionTests/`a change of person waits for the token, but not for somebody who is gone`()"}
        {"rule":"altcraft/T2","test":"PatchbayAltcraftTests.SubscriptionTests/`a token that changed is told before anything else uses it`()"}
        {"rule":"altcraft/T3","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) token-rotation-refused"}
        {"rule":"altcraft/T3","test":"PatchbayAltcraftTests.SubscriptionTests/`a refused token update is not repeated, and subscribing goes on`()"}
        {"rule":"altcraft/T4","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) token-rotation"}
        {"rule":"altcraft/T4","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) token-rotation-refused"}
        {"rule":"altcraft/T4","test":"PatchbayAltcraftTests.SubscriptionTests/`the token of a subscription that worked is remembered, and survives storage`()"}
        {"rule":"altcraft/T5","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) log-in-unpermitted"}
        {"rule":"altcraft/T5","test":"PatchbayAltcraftTests.SubscriptionTests/`subscribing needs a token and permission, leaving needs no permission`()"}
        {"rule":"altcraft/T6","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) status-reads"}
        {"rule":"altcraft/T6","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) token-rotation"}
        {"rule":"altcraft/T6","test":"PatchbayAltcraftTests.RequestTests/`a question names what it asks for`(_:_:)"}
        {"rule":"altcraft/T7","test":"PatchbayAltcraftTests.RecordTests/`a push token needs a provider and the person's word`()"}
        {"rule":"altcraft/T7","test":"PatchbayAltcraftTests.RequestTests/`a question that can't be asked is refused`()"}
        {"rule":"altcraft/T7","test":"PatchbayAltcraftTests.SubscriptionTests/`platform and service make a provider`(_:_:_:)"}
        {"rule":"altcraft/T8","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) log-in-without-token"}
        {"rule":"altcraft/T8","test":"PatchbayAltcraftTests.RequestTests/`a question that can't be asked is refused`()"}
        {"rule":"altcraft/T8","test":"PatchbayAltcraftTests.SubscriptionTests/`subscribing needs a token and permission, leaving needs no permission`()"}
        {"rule":"altcraft/T9","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) opt-out-behind-a-failing-subscribe"}
        {"rule":"altcraft/T9","test":"PatchbayAltcraftTests.ChangingFactsTests/`an opt-out passes a failing subscribe, which is not sent after it`()"}
        {"rule":"altcraft/T9","test":"PatchbayAltcraftTests.SubscriptionTests/`a subscribe that waits gives way to a later word`()"}
        {"rule":"altcraft/T10","test":"PatchbayAltcraftTests.AltcraftConformanceTests/converses(_:) role-token-changed"}
        {"rule":"altcraft/T10","test":"PatchbayAltcraftTests.CredentialTests/`a changed role token ends what was captured and known under the old one`(_:)"}
        {"rule":"altcraft/T11","test":"PatchbayAltcraftTests.SubscriptionTests/`a malformed token is refused at capture, a good one is passed on unchanged`(_:_:_:)"}
        {"rule":"altcraft/V1","test":"PatchbayAltcraftTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) first-hour"}
        {"rule":"altcraft/V1","test":"PatchbayAltcraftTests.ServerTests/`profiles go in one request, the token in its header`()"}
        {"rule":"altcraft/V2","test":"PatchbayAltcraftTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) refused-token"}
        {"rule":"altcraft/V2","test":"PatchbayAltcraftTests.ServerTests/`profiles go in one request, the token in its header`()"}
        {"rule":"altcraft/V2","test":"PatchbayAltcraftTests.ServerTests/`what only a person can mend stops, and keeps everything`(_:)"}
        {"rule":"altcraft/V3","test":"PatchbayAltcraftTests.ServerTests/`profiles go in one request, the token in its header`()"}
        {"rule":"altcraft/V4","test":"PatchbayAltcraftTests.ServerTests/`a profile is found by what the settings say`(_:)"}
        {"rule":"altcraft/V4","test":"PatchbayAltcraftTests.ServerTests/`contacts whose keys look alike stay two`()"}
        {"rule":"altcraft/V4","test":"PatchbayAltcraftTests.ServerTests/`settings that do not fit together are all found`()"}
        {"rule":"altcraft/V5","test":"PatchbayAltcraftTests.ServerTests/`identifiers are fields, and the key can't be changed`()"}
        {"rule":"altcraft/V5","test":"PatchbayAltcraftTests.ServerTests/`profiles go in one request, the token in its header`()"}
        {"rule":"altcraft/V6","test":"PatchbayAltcraftTests.ServerTests/`profiles go in one request, the token in its header`()"}
        {"rule":"altcraft/V7","test":"PatchbayAltcraftTests.ServerTests/`a request has so many profiles and bytes, and a larger profile goes alone`()"}
        {"rule":"altcraft/V7","test":"PatchbayAltcraftTests.ServerTests/`contacts whose keys look alike stay two`()"}
        {"rule":"altcraft/V8","test":"PatchbayAltcraftTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) first-hour"}
        {"rule":"altcraft/V8","test":"PatchbayAltcraftTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) verdicts"}
        {"rule":"altcraft/V8","test":"PatchbayAltcraftTests.ServerTests/`a profile that the vendor can't take now goes again alone`()"}
        {"rule":"altcraft/V8","test":"PatchbayAltcraftTests.ServerTests/`each profile has its verdict`()"}
        {"rule":"altcraft/V9","test":"PatchbayAltcraftTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) refused-whole"}
        {"rule":"altcraft/V9","test":"PatchbayAltcraftTests.ServerTests/`a request that says nothing of each profile goes again in halves`(_:)"}
        {"rule":"altcraft/V10","test":"PatchbayAltcraftTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) verdicts"}
        {"rule":"altcraft/V10","test":"PatchbayAltcraftTests.ServerTests/`a yes is a number, not a status`()"}
        {"rule":"altcraft/V10","test":"PatchbayAltcraftTests.ServerTests/`what only a person can mend stops, and keeps everything`(_:)"}
        {"rule":"altcraft/V11","test":"PatchbayAltcraftTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) first-hour"}
        {"rule":"altcraft/V11","test":"PatchbayAltcraftTests.ServerTests/`a contact has one profile in a request, and a field one instruction`()"}
        {"rule":"altcraft/V12","test":"PatchbayAltcraftTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) subscriptions"}
        {"rule":"altcraft/V12","test":"PatchbayAltcraftTests.ServerTests/`a subscription goes to the address that the platform knows`()"}
        {"rule":"altcraft/V12","test":"PatchbayAltcraftTests.ServerTests/`settings that do not fit together are all found`()"}
        {"rule":"altcraft/V12","test":"PatchbayAltcraftTests.ServerTests/`what no subscription can be is refused`()"}
        {"rule":"altcraft/V13","test":"PatchbayAltcraftTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) subscriptions"}
        {"rule":"altcraft/V13","test":"PatchbayAltcraftTests.ServerTests/`a subscription goes to the address that the platform knows`()"}
        {"rule":"altcraft/V13","test":"PatchbayAltcraftTests.ServerTests/`what no subscription can be is refused`()"}
        {"rule":"altcraft/V14","test":"PatchbayAltcraftTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) subscriptions"}
        {"rule":"altcraft/V14","test":"PatchbayAltcraftTests.ServerTests/`a no in a channel without an address leaves nobody alone, and is told`(_:)"}
        {"rule":"altcraft/V14","test":"PatchbayAltcraftTests.ServerTests/`a no is kept where the platform may reach the contact by what can't be written here`(_:_:)"}
        {"rule":"altcraft/V14","test":"PatchbayAltcraftTests.ServerTests/`a subscription goes to the address that the platform knows`()"}
        {"rule":"altcraft/V14","test":"PatchbayAltcraftTests.ServerTests/`addresses are asked for together, and an unregister suspends what is subscribed`()"}
        {"rule":"altcraft/V15","test":"PatchbayAltcraftTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) deletion"}
        {"rule":"altcraft/V15","test":"PatchbayAltcraftTests.ServerTests/`a profile is forgotten, and one that is not there needs no deletion`()"}
        {"rule":"altcraft/V16","test":"PatchbayAltcraftTests.ServerTests/`a goal leaves once, also where nobody knows what became of it`()"}
        {"rule":"altcraft/V16","test":"PatchbayAltcraftTests.ServerTests/`what no goal can be is refused, and a strange name is told of`()"}
        {"rule":"altcraft/V17","test":"PatchbayAltcraftTests.ServerTests/`a goal leaves once, also where nobody knows what became of it`()"}
        {"rule":"altcraft/V17","test":"PatchbayAltcraftTests.ServerTests/`what no goal can be is refused, and a strange name is told of`()"}
        {"rule":"altcraft/V18","test":"PatchbayAltcraftTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) goal-in-uncertainty"}
        {"rule":"altcraft/V18","test":"PatchbayAltcraftTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) increment-in-uncertainty"}
        {"rule":"altcraft/V18","test":"PatchbayAltcraftTests.ServerTests/`a goal leaves once, also where nobody knows what became of it`()"}
        {"rule":"altcraft/V18","test":"PatchbayAltcraftTests.ServerTests/`a number grows once`()"}
        {"rule":"altcraft/V19","test":"PatchbayAltcraftTests.ServerTests/`a push is told by its uid and a number`()"}
        {"rule":"altcraft/V20","test":"PatchbayAltcraftTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) first-hour"}
        {"rule":"altcraft/V20","test":"PatchbayAltcraftTests.ServerTests/`profiles are read page by page`()"}
        {"rule":"altcraft/V21","test":"PatchbayAltcraftTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) retry-after"}
        {"rule":"altcraft/V21","test":"PatchbayAltcraftTests.ServerTests/`a Retry-After keeps every lane back, over a restart`()"}
        {"rule":"altcraft/V22","test":"PatchbayAltcraftTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) retry-after"}
        {"rule":"altcraft/V22","test":"PatchbayAltcraftTests.ServerTests/`a profile that the vendor can't take now goes again alone`()"}
        {"rule":"altcraft/V22","test":"PatchbayAltcraftTests.ServerTests/`a vendor that fails is asked less often each time, by all lanes together`()"}
        {"rule":"altcraft/V23","test":"PatchbayAltcraftTests.ServerTests/`a web page is no answer, nor is a text`()"}
        {"rule":"altcraft/V24","test":"PatchbayAltcraftTests.ServerTests/`an opt-out of an unknown contact is applied when the contact is made`()"}
        {"rule":"altcraft/X1","test":"PatchbayAltcraftTests.RecordTests/`a line finds its profile by the chosen matching`()"}
        {"rule":"altcraft/X2","test":"PatchbayAltcraftTests.RecordTests/`a line finds its profile by the chosen matching`()"}
        {"rule":"altcraft/X3","test":"PatchbayAltcraftTests.RecordTests/`a push token needs a provider and the person's word`()"}
        {"rule":"altcraft/X3","test":"PatchbayAltcraftTests.RecordTests/`a resource without a name is not taken for the topic that is called like its number`()"}
        {"rule":"altcraft/X3","test":"PatchbayAltcraftTests.RecordTests/`a resource's number may be a text, or written with a point`(_:_:)"}
        {"rule":"altcraft/X3","test":"PatchbayAltcraftTests.RecordTests/`an entry without a resource says nothing of a whole channel`(_:)"}
        {"rule":"altcraft/X3","test":"PatchbayAltcraftTests.RecordTests/`nobody is subscribed who did not say so`()"}
        {"rule":"altcraft/X3","test":"PatchbayAltcraftTests.RecordTests/`settings by which two topics share a resource are refused`(_:_:)"}
        {"rule":"altcraft/X3","test":"PatchbayAltcraftTests.ServerTests/`a subscription goes to the address that the platform knows`()"}
        {"rule":"altcraft/X4","test":"PatchbayAltcraftTests.RecordTests/`a status that is none of the vendor's words may be a no, so the profile is none`(_:)"}
        {"rule":"altcraft/X4","test":"PatchbayAltcraftTests.RecordTests/`nobody is subscribed who did not say so`()"}
        {"rule":"altcraft/X4","test":"PatchbayAltcraftTests.ServerTests/`a subscription goes to the address that the platform knows`()"}
        {"rule":"altcraft/X5","test":"PatchbayAltcraftTests.RecordTests/`a contact whose no has no resource is not written, unless the settings say so`()"}
        {"rule":"altcraft/X5","test":"PatchbayAltcraftTests.RecordTests/`a denied channel with an address is an opt-out of its own`()"}
        {"rule":"altcraft/X5","test":"PatchbayAltcraftTests.RecordTests/`nobody is subscribed who did not say so`()"}
        {"rule":"altcraft/X6","test":"PatchbayAltcraftTests.RecordTests/`nobody is subscribed who did not say so`()"}
        {"rule":"altcraft/X6","test":"PatchbayAltcraftTests.ServerTests/`a subscription goes to the address that the platform knows`()"}
        {"rule":"altcraft/X7","test":"PatchbayAltcraftTests.RecordTests/`a birthday that is an instant is the nearest day`(_:_:)"}
        {"rule":"altcraft/X7","test":"PatchbayAltcraftTests.RecordTests/`a number that no attribute can hold is named`(_:_:)"}
        {"rule":"altcraft/X7","test":"PatchbayAltcraftTests.RecordTests/`a profile data object is read as it is exported`()"}
        {"rule":"altcraft/X7","test":"PatchbayAltcraftTests.RecordTests/`what is null says nothing`()"}
        {"rule":"altcraft/X8","test":"PatchbayAltcraftTests.RecordTests/`NUL is written and read as JSON permits it, and told`()"}
        {"rule":"altcraft/X8","test":"PatchbayAltcraftTests.RecordTests/`a profile data object is read as it is exported`()"}
        {"rule":"altcraft/X9","test":"PatchbayAltcraftTests.RecordTests/`a deleted entry is no yes, and no device`()"}
        {"rule":"altcraft/X9","test":"PatchbayAltcraftTests.RecordTests/`a profile whose subscriptions can't be read is none`(_:_:)"}
        {"rule":"altcraft/X9","test":"PatchbayAltcraftTests.RecordTests/`a push token's own entry says whether its device may get pushes`()"}
        {"rule":"altcraft/X9","test":"PatchbayAltcraftTests.RecordTests/`an opt-in counts for the address of its entry only`(_:_:_:_:)"}
        {"rule":"altcraft/X9","test":"PatchbayAltcraftTests.RecordTests/`of several entries for one channel the one that allows least counts`(_:_:)"}
        {"rule":"des/A1","test":"PatchbayDESTests.DESConformanceTests/converses(_:) actions"}
        {"rule":"des/A1","test":"PatchbayDESTests.EventTests/`a message in an answer goes to the app, one without HTML does not`()"}
        {"rule":"des/A2","test":"PatchbayDESTests.DESConformanceTests/converses(_:) actions"}
        {"rule":"des/A2","test":"PatchbayDESTests.EventTests/`actions in an answer are carried out in order, then their campaign was viewed`()"}
        {"rule":"des/A3","test":"PatchbayDESTests.DESConformanceTests/converses(_:) actions"}
        {"rule":"des/A3","test":"PatchbayDESTests.EventTests/`actions in an answer are carried out in order, then their campaign was viewed`()"}
        {"rule":"des/A4","test":"PatchbayDESTests.ChangingFactsTests/`a damaged answer to a log-in is no answer`()"}
        {"rule":"des/A4","test":"PatchbayDESTests.ChangingFactsTests/`the tokens of a person are not used for the next`()"}
        {"rule":"des/A4","test":"PatchbayDESTests.ContactTests/`tokens that an answer lacks stay`()"}
        {"rule":"des/A4","test":"PatchbayDESTests.InstallationTests/`a first start registers, asks for an anonymous contact, and sets the push token`()"}
        {"rule":"des/A5","test":"PatchbayDESTests.DESConformanceTests/converses(_:) refused-batch"}
        {"rule":"des/A5","test":"PatchbayDESTests.QueueTests/`other refusals end a request, and the queue goes on`(status:)"}
        {"rule":"des/B1","test":"PatchbayDESTests.ChangingFactsTests/`iOS names the script of a language`()"}
        {"rule":"des/B1","test":"PatchbayDESTests.DESConformanceTests/converses(_:) first-start"}
        {"rule":"des/B1","test":"PatchbayDESTests.InstallationTests/`a first start registers, asks for an anonymous contact, and sets the push token`()"}
        {"rule":"des/B1","test":"PatchbayDESTests.InstallationTests/`platforms have the vendor's words`(row:)"}
        {"rule":"des/B1","test":"PatchbayDESTests.InstallationTests/`the zone has four digits`(row:)"}
        {"rule":"des/B1","test":"PatchbayDESTests.RefusalTests/`an installation needs facts, a known platform, a usable token`()"}
        {"rule":"des/B2","test":"PatchbayDESTests.InstallationTests/`a first start registers, asks for an anonymous contact, and sets the push token`()"}
        {"rule":"des/B2","test":"PatchbayDESTests.InstallationTests/`push settings are what the app gives, else what follows from the permission`()"}
        {"rule":"des/B3","test":"PatchbayDESTests.ChangingFactsTests/`a malformed push token replaces no good one`()"}
        {"rule":"des/B3","test":"PatchbayDESTests.DESConformanceTests/converses(_:) push-off-and-on"}
        {"rule":"des/B3","test":"PatchbayDESTests.InstallationTests/`a first start registers, asks for an anonymous contact, and sets the push token`()"}
        {"rule":"des/B3","test":"PatchbayDESTests.RefusalTests/`an installation needs facts, a known platform, a usable token`()"}
        {"rule":"des/B4","test":"PatchbayDESTests.ChangingFactsTests/`a refused ID token is replaced before the refusal is final`()"}
        {"rule":"des/B4","test":"PatchbayDESTests.ChangingFactsTests/`an expired ID token waits like a missing one`()"}
        {"rule":"des/B4","test":"PatchbayDESTests.ChangingFactsTests/`an opt-out passes a log-in that waits for its ID token`()"}
        {"rule":"des/B4","test":"PatchbayDESTests.ConfigurationTests/`the example's settings make an adapter that asks the hosts it names`()"}
        {"rule":"des/B4","test":"PatchbayDESTests.ContactTests/`a contact is set by field and value, and not again`()"}
        {"rule":"des/B4","test":"PatchbayDESTests.ContactTests/`an ID token proves who it is, and another one is a change`()"}
        {"rule":"des/B4","test":"PatchbayDESTests.DESConformanceTests/converses(_:) first-start"}
        {"rule":"des/B4","test":"PatchbayDESTests.RefusalTests/`all mistakes of a configuration are told at once`()"}
        {"rule":"des/B5","test":"PatchbayDESTests.DESConformanceTests/converses(_:) token-renewed"}
        {"rule":"des/B5","test":"PatchbayDESTests.RenewalTests/`401: renewed, and half a second later the same body again`()"}
        {"rule":"des/B6","test":"PatchbayDESTests.DESConformanceTests/converses(_:) first-start"}
        {"rule":"des/B6","test":"PatchbayDESTests.EventTests/`an event has type, name and time, and no empty attributes`()"}
        {"rule":"des/B7","test":"PatchbayDESTests.EventTests/`sessions begin, carry their id, and end with their length`()"}
        {"rule":"des/B7","test":"PatchbayDESTests.EventTests/`the opening of a push and its buttons have a form of their own`()"}
        {"rule":"des/B7","test":"PatchbayDESTests.RefusalTests/`events need a name of their own and plain attributes`()"}
        {"rule":"des/B8","test":"PatchbayDESTests.DESConformanceTests/converses(_:) do-not-disturb"}
        {"rule":"des/B8","test":"PatchbayDESTests.EventTests/`messages that are not to be shown are told with each request`()"}
        {"rule":"des/B9","test":"PatchbayDESTests.EventTests/`language and versions go along, or not`()"}
        {"rule":"des/B10","test":"PatchbayDESTests.DESConformanceTests/converses(_:) views-and-clicks"}
        {"rule":"des/B10","test":"PatchbayDESTests.EventTests/`a view and a click are recorded and reported`()"}
        {"rule":"des/B11","test":"PatchbayDESTests.DESConformanceTests/converses(_:) inline"}
        {"rule":"des/B11","test":"PatchbayDESTests.StateTests/`an inline request takes the pending clicks along once, and no views`()"}
        {"rule":"des/C1","test":"PatchbayDESTests.DESConformanceTests/converses(_:) configuration-from-afar"}
        {"rule":"des/C1","test":"PatchbayDESTests.QuestionTests/`a configuration from afar switches v4 off and moves services`()"}
        {"rule":"des/C1","test":"PatchbayDESTests.RefusalTests/`all mistakes of a configuration are told at once`()"}
        {"rule":"des/F1","test":"PatchbayDESTests.RecordTests/`a file has the vendor's field names, and nothing that its import can't take`()"}
        {"rule":"des/F2","test":"PatchbayDESTests.RecordTests/`a file has the vendor's field names, and nothing that its import can't take`()"}
        {"rule":"des/F3","test":"PatchbayDESTests.RecordTests/`a file has the vendor's field names, and nothing that its import can't take`()"}
        {"rule":"des/F4","test":"PatchbayDESTests.RecordTests/`a file has the vendor's field names, and nothing that its import can't take`()"}
        {"rule":"des/F5","test":"PatchbayDESTests.RecordTests/`a file has the vendor's field names, and nothing that its import can't take`()"}
        {"rule":"des/F6","test":"PatchbayDESTests.RecordTests/`a contact needs the field that finds it, and its devices stay where they are`()"}
        {"rule":"des/F7","test":"PatchbayDESTests.RecordTests/`a file has the vendor's field names, and nothing that its import can't take`()"}
        {"rule":"des/F8","test":"PatchbayDESTests.RecordTests/`a contact needs the field that finds it, and its devices stay where they are`()"}
        {"rule":"des/F9","test":"PatchbayDESTests.RecordTests/`a file has the vendor's field names, and nothing that its import can't take`()"}
        {"rule":"des/F10","test":"PatchbayDESTests.RecordTests/`a contact needs the field that finds it, and its devices stay where they are`()"}
        {"rule":"des/F11","test":"PatchbayDESTests.RecordTests/`a contact needs the field that finds it, and its devices stay where they are`()"}
        {"rule":"des/H1","test":"PatchbayDESTests.InstallationTests/`a first start registers, asks for an anonymous contact, and sets the push token`()"}
        {"rule":"des/H2","test":"PatchbayDESTests.DESConformanceTests/converses(_:) first-start"}
        {"rule":"des/H2","test":"PatchbayDESTests.InstallationTests/`a first start registers, asks for an anonymous contact, and sets the push token`()"}
        {"rule":"des/H2","test":"PatchbayDESTests.InstallationTests/`a subject that is no UUID gets one, always the same`()"}
        {"rule":"des/H2","test":"PatchbayDESTests.InstallationTests/`an adopted client id is taken over and kept`()"}
        {"rule":"des/H2","test":"PatchbayDESTests.RefusalTests/`an installation needs facts, a known platform, a usable token`()"}
        {"rule":"des/H3","test":"PatchbayDESTests.DESConformanceTests/converses(_:) first-start"}
        {"rule":"des/H3","test":"PatchbayDESTests.InstallationTests/`a first start registers, asks for an anonymous contact, and sets the push token`()"}
        {"rule":"des/H4","test":"PatchbayDESTests.ContactTests/`a contact is set by field and value, and not again`()"}
        {"rule":"des/H4","test":"PatchbayDESTests.DESConformanceTests/converses(_:) first-start"}
        {"rule":"des/H5","test":"PatchbayDESTests.ConfigurationTests/`the example's settings make an adapter that asks the hosts it names`()"}
        {"rule":"des/H5","test":"PatchbayDESTests.ContactTests/`a contact is set by field and value, and not again`()"}
        {"rule":"des/H5","test":"PatchbayDESTests.RenewalTests/`401: renewed, and half a second later the same body again`()"}
        {"rule":"des/H6","test":"PatchbayDESTests.InstallationTests/`a first start registers, asks for an anonymous contact, and sets the push token`()"}
        {"rule":"des/H6","test":"PatchbayDESTests.RefusalTests/`all mistakes of a configuration are told at once`()"}
        {"rule":"des/H7","test":"PatchbayDESTests.QuestionTests/`the inbox leaves out what lacks something`()"}
        {"rule":"des/H7","test":"PatchbayDESTests.RefusalTests/`all mistakes of a configuration are told at once`()"}
        {"rule":"des/H8","test":"PatchbayDESTests.ContactTests/`the anonymous contact is asked for with or without the token`(sends:)"}
        {"rule":"des/H8","test":"PatchbayDESTests.DESConformanceTests/converses(_:) log-out"}
        {"rule":"des/H8","test":"PatchbayDESTests.InstallationTests/`an account without anonymous contacts registers all the same`()"}
        {"rule":"des/I1","test":"PatchbayDESTests.DESConformanceTests/converses(_:) inbox-tags"}
        {"rule":"des/I1","test":"PatchbayDESTests.DESConformanceTests/converses(_:) token-too-old"}
        {"rule":"des/I1","test":"PatchbayDESTests.QuestionTests/`the inbox leaves out what lacks something`()"}
        {"rule":"des/I2","test":"PatchbayDESTests.QuestionTests/`geofences leave out what lacks something`()"}
        {"rule":"des/I3","test":"PatchbayDESTests.QuestionTests/`content for a push comes from the vendor's hosts alone`()"}
        {"rule":"des/N1","test":"PatchbayDESTests.ChangingFactsTests/`a denial that covers none of it leaves state, views, clicks, session, and inbox`(number:)"}
        {"rule":"des/N1","test":"PatchbayDESTests.ChangingFactsTests/`after a denial of tracking the installation registers again before its next event`()"}
        {"rule":"des/N1","test":"PatchbayDESTests.InstallationTests/`erasing forgets everything here, consent is kept here`()"}
        {"rule":"des/N2","test":"PatchbayDESTests.DESConformanceTests/converses(_:) forgotten"}
        {"rule":"des/N2","test":"PatchbayDESTests.InstallationTests/`erasing forgets everything here, consent is kept here`()"}
        {"rule":"des/N3","test":"PatchbayDESTests.ChangingFactsTests/`a change of person that waited in an outage leaves no person at the vendor that is left`(policy:change:)"}
        {"rule":"des/N3","test":"PatchbayDESTests.ChangingFactsTests/`a push token that is set again after a renewal does not outlive the unregister`()"}
        {"rule":"des/N3","test":"PatchbayDESTests.ChangingFactsTests/`what a consent releases after the unregister is not carried out`()"}
        {"rule":"des/N3","test":"PatchbayDESTests.DESConformanceTests/converses(_:) left"}
        {"rule":"des/N3","test":"PatchbayDESTests.InstallationTests/`an unregister takes the token back and becomes anonymous`()"}
        {"rule":"des/N3","test":"PatchbayDESTests.PushPersonTests/`an unregister does not wait for an event that fails again and again`(isEarlier:hasReply:)"}
        {"rule":"des/N4","test":"PatchbayDESTests.DESConformanceTests/converses(_:) before-the-registration"}
        {"rule":"des/N4","test":"PatchbayDESTests.DESConformanceTests/converses(_:) forgotten"}
        {"rule":"des/N4","test":"PatchbayDESTests.InstallationTests/`everything waits for the registration, and it overtakes what waits`()"}
        {"rule":"des/N4","test":"PatchbayDESTests.QuestionTests/`bad questions are refused before anything is sent`()"}
        {"rule":"des/N5","test":"PatchbayDESTests.RefusalTests/`options are checked at capture`()"}
        {"rule":"des/N6","test":"PatchbayDESTests.ChangingFactsTests/`a log-in that waits ends although the next log-in is held for a consent`()"}
        {"rule":"des/N6","test":"PatchbayDESTests.ChangingFactsTests/`a log-in that waits when another person comes ends`()"}
        {"rule":"des/N6","test":"PatchbayDESTests.ChangingFactsTests/`a question is answered under the contact of who asks`()"}
        {"rule":"des/N6","test":"PatchbayDESTests.ChangingFactsTests/`a refused log-out does not make later events the person's`()"}
        {"rule":"des/N6","test":"PatchbayDESTests.ChangingFactsTests/`nothing of a person whose log-in was refused goes under the earlier contact`(status:)"}
        {"rule":"des/N7","test":"PatchbayDESTests.DESConformanceTests/converses(_:) each-person-s-push"}
        {"rule":"des/N7","test":"PatchbayDESTests.PushPersonTests/`an opt-out does not wait for the log-in of its person`()"}
        {"rule":"des/N7","test":"PatchbayDESTests.PushPersonTests/`an opt-out that overtakes a log-in wins over an earlier opt-in`(isLoggedOut:)"}
        {"rule":"des/N7","test":"PatchbayDESTests.PushPersonTests/`an opt-out without a known person is the next person's`()"}
        {"rule":"des/N7","test":"PatchbayDESTests.PushPersonTests/`each person's last statement about push counts when the person comes back`(isOnline:)"}
        {"rule":"des/N8","test":"PatchbayDESTests.DESConformanceTests/converses(_:) consent-to-messages"}
        {"rule":"des/N8","test":"PatchbayDESTests.PushPersonTests/`a log-in that comes late does not reach who denied messages`()"}
        {"rule":"des/N8","test":"PatchbayDESTests.PushPersonTests/`no push token is set until the person allows messages`(isRequired:)"}
        {"rule":"des/N8","test":"PatchbayDESTests.PushPersonTests/`no push token is set while the vendor holds the contact of a person who denied messages`(isKnown:)"}
        {"rule":"des/N8","test":"PatchbayDESTests.PushPersonTests/`the next person is not reached before that person's answer`()"}
        {"rule":"des/R1","test":"PatchbayDESTests.ChangingFactsTests/`the setting says whether a service is v3, not a part of its address`()"}
        {"rule":"des/R1","test":"PatchbayDESTests.DESConformanceTests/converses(_:) configuration-from-afar"}
        {"rule":"des/R1","test":"PatchbayDESTests.DESConformanceTests/converses(_:) old-campaigns"}
        {"rule":"des/R1","test":"PatchbayDESTests.DESConformanceTests/converses(_:) views-and-clicks"}
        {"rule":"des/R1","test":"PatchbayDESTests.QuestionTests/`a configuration from afar switches v4 off and moves services`()"}
        {"rule":"des/R1","test":"PatchbayDESTests.StateTests/`the state goes back as it came, in events and in inline requests`()"}
        {"rule":"des/R1","test":"PatchbayDESTests.StateTests/`v3 sends everything each time and deletes by oldCampaigns alone`()"}
        {"rule":"des/R2","test":"PatchbayDESTests.ConfigurationTests/`the example's settings make an adapter that asks the hosts it names`()"}
        {"rule":"des/R2","test":"PatchbayDESTests.RefusalTests/`a code that is none is refused before anything else`(code:)"}
        {"rule":"des/R3","test":"PatchbayDESTests.DESConformanceTests/converses(_:) lost-answer"}
        {"rule":"des/R3","test":"PatchbayDESTests.DESConformanceTests/converses(_:) queue-stops"}
        {"rule":"des/R3","test":"PatchbayDESTests.QueueTests/`headers and batch are made anew at each attempt`()"}
        {"rule":"des/R4","test":"PatchbayDESTests.DESConformanceTests/converses(_:) queue-stops"}
        {"rule":"des/R4","test":"PatchbayDESTests.QueueTests/`headers and batch are made anew at each attempt`()"}
        {"rule":"des/R5","test":"PatchbayDESTests.DESConformanceTests/converses(_:) first-start"}
        {"rule":"des/R5","test":"PatchbayDESTests.DESConformanceTests/converses(_:) forgotten"}
        {"rule":"des/R5","test":"PatchbayDESTests.InstallationTests/`a first start registers, asks for an anonymous contact, and sets the push token`()"}
        {"rule":"des/R5","test":"PatchbayDESTests.InstallationTests/`the same facts are not sent again, others are`()"}
        {"rule":"des/R5","test":"PatchbayDESTests.InstallationTests/`without a client state the client is registered at each start`()"}
        {"rule":"des/R6","test":"PatchbayDESTests.DESConformanceTests/converses(_:) first-start"}
        {"rule":"des/R6","test":"PatchbayDESTests.DESConformanceTests/converses(_:) push-off-and-on"}
        {"rule":"des/R6","test":"PatchbayDESTests.InstallationTests/`a first start registers, asks for an anonymous contact, and sets the push token`()"}
        {"rule":"des/R6","test":"PatchbayDESTests.InstallationTests/`a push token is set once, and counts only after a success`()"}
        {"rule":"des/R6","test":"PatchbayDESTests.InstallationTests/`a wish for push without a token is kept for later`()"}
        {"rule":"des/R7","test":"PatchbayDESTests.ChangingFactsTests/`a registration that sets a forgotten token again sets the newest one`()"}
        {"rule":"des/R7","test":"PatchbayDESTests.ContactTests/`who becomes anonymous has the push token set anew`()"}
        {"rule":"des/R7","test":"PatchbayDESTests.DESConformanceTests/converses(_:) left"}
        {"rule":"des/R7","test":"PatchbayDESTests.DESConformanceTests/converses(_:) log-out"}
        {"rule":"des/R7","test":"PatchbayDESTests.DESConformanceTests/converses(_:) push-off-and-on"}
        {"rule":"des/R7","test":"PatchbayDESTests.DESConformanceTests/converses(_:) token-renewed"}
        {"rule":"des/R7","test":"PatchbayDESTests.InstallationTests/`no push: the token is forgotten before any answer and stays away`()"}
        {"rule":"des/R7","test":"PatchbayDESTests.RenewalTests/`401: renewed, and half a second later the same body again`()"}
        {"rule":"des/R8","test":"PatchbayDESTests.ContactTests/`without a value the contact is anonymous`()"}
        {"rule":"des/R8","test":"PatchbayDESTests.DESConformanceTests/converses(_:) first-start"}
        {"rule":"des/R8","test":"PatchbayDESTests.DESConformanceTests/converses(_:) log-out"}
        {"rule":"des/R8","test":"PatchbayDESTests.InstallationTests/`an account without anonymous contacts registers all the same`()"}
        {"rule":"des/R8","test":"PatchbayDESTests.RefusalTests/`one kind of identifier names contacts`()"}
        {"rule":"des/R9","test":"PatchbayDESTests.ContactTests/`a contact is set by field and value, and not again`()"}
        {"rule":"des/R9","test":"PatchbayDESTests.ContactTests/`a value that looks alike is another contact`()"}
        {"rule":"des/R9","test":"PatchbayDESTests.ContactTests/`after uncertain delivery the contact is set again`()"}
        {"rule":"des/R9","test":"PatchbayDESTests.ContactTests/`an ID token proves who it is, and another one is a change`()"}
        {"rule":"des/R9","test":"PatchbayDESTests.ContactTests/`another field with the same value is another contact`()"}
        {"rule":"des/R9","test":"PatchbayDESTests.DESConformanceTests/converses(_:) log-out"}
        {"rule":"des/R10","test":"PatchbayDESTests.ContactTests/`without a value the contact is anonymous`()"}
        {"rule":"des/R10","test":"PatchbayDESTests.DESConformanceTests/converses(_:) log-out"}
        {"rule":"des/R11","test":"PatchbayDESTests.ContactTests/`a change of contact parts two sessions`()"}
        {"rule":"des/R11","test":"PatchbayDESTests.ContactTests/`after a failed change the old contact stays and the session goes on`()"}
        {"rule":"des/R11","test":"PatchbayDESTests.DESConformanceTests/converses(_:) change-of-contact"}
        {"rule":"des/R12","test":"PatchbayDESTests.EventTests/`an event has type, name and time, and no empty attributes`()"}
        {"rule":"des/R13","test":"PatchbayDESTests.DESConformanceTests/converses(_:) change-of-contact"}
        {"rule":"des/R13","test":"PatchbayDESTests.EventTests/`sessions begin, carry their id, and end with their length`()"}
        {"rule":"des/R13","test":"PatchbayDESTests.EventTests/`without a contact token the start of the app is not reported`()"}
        {"rule":"des/R14","test":"PatchbayDESTests.ChangingFactsTests/`the message id of a push may be a number`()"}
        {"rule":"des/R14","test":"PatchbayDESTests.EventTests/`the opening of a push and its buttons have a form of their own`()"}
        {"rule":"des/R14","test":"PatchbayDESTests.RefusalTests/`pushes without an id, and those of others`()"}
        {"rule":"des/R15","test":"PatchbayDESTests.EventTests/`a view and a click are recorded and reported`()"}
        {"rule":"des/R15","test":"PatchbayDESTests.RefusalTests/`views and clicks need a campaign, clicks a button`()"}
        {"rule":"des/R16","test":"PatchbayDESTests.ChangingFactsTests/`the inbox of one person decides nothing for the next`()"}
        {"rule":"des/R16","test":"PatchbayDESTests.DESConformanceTests/converses(_:) inbox-tags"}
        {"rule":"des/R16","test":"PatchbayDESTests.EventTests/`of words about tags that are captured at once, none is lost`(_:)"}
        {"rule":"des/R16","test":"PatchbayDESTests.EventTests/`tags are lower-case, and with a fetched inbox only changes are sent`()"}
        {"rule":"des/R16","test":"PatchbayDESTests.EventTests/`the last word about a tag counts while an earlier one waits`()"}
        {"rule":"des/R17","test":"PatchbayDESTests.DESConformanceTests/converses(_:) new-application"}
        {"rule":"des/R17","test":"PatchbayDESTests.DESConformanceTests/converses(_:) views-and-clicks"}
        {"rule":"des/R17","test":"PatchbayDESTests.StateTests/`the state goes back as it came, in events and in inline requests`()"}
        {"rule":"des/R17","test":"PatchbayDESTests.StateTests/`the state survives storage byte for byte`()"}
        {"rule":"des/R18","test":"PatchbayDESTests.DESConformanceTests/converses(_:) old-campaigns"}
        {"rule":"des/R18","test":"PatchbayDESTests.DESConformanceTests/converses(_:) process-dies"}
        {"rule":"des/R18","test":"PatchbayDESTests.DESConformanceTests/converses(_:) views-and-clicks"}
        {"rule":"des/R18","test":"PatchbayDESTests.StateTests/`each view and click is sent once, one by one in its order`()"}
        {"rule":"des/R18","test":"PatchbayDESTests.StateTests/`v3 sends everything each time and deletes by oldCampaigns alone`()"}
        {"rule":"des/R19","test":"PatchbayDESTests.DESConformanceTests/converses(_:) views-and-clicks"}
        {"rule":"des/R19","test":"PatchbayDESTests.StateTests/`each view and click is sent once, one by one in its order`()"}
        {"rule":"des/R20","test":"PatchbayDESTests.ChangingFactsTests/`a click behind many events goes with a question`()"}
        {"rule":"des/R20","test":"PatchbayDESTests.ChangingFactsTests/`a click captured before the repeat after a renewal goes with the question that follows`()"}
        {"rule":"des/R20","test":"PatchbayDESTests.ChangingFactsTests/`a click captured while a request is in flight that fails goes with the question that follows`(first:)"}
        {"rule":"des/R20","test":"PatchbayDESTests.DESConformanceTests/converses(_:) inline"}
        {"rule":"des/R20","test":"PatchbayDESTests.DESConformanceTests/converses(_:) inline-in-the-pause"}
        {"rule":"des/R20","test":"PatchbayDESTests.StateTests/`an inline request can carry views too, as the vendor's page can be read`()"}
        {"rule":"des/R20","test":"PatchbayDESTests.StateTests/`an inline request takes the pending clicks along once, and no views`()"}
        {"rule":"des/R21","test":"PatchbayDESTests.DESConformanceTests/converses(_:) actions"}
        {"rule":"des/R21","test":"PatchbayDESTests.EventTests/`a message in an answer goes to the app, one without HTML does not`()"}
        {"rule":"des/R22","test":"PatchbayDESTests.DESConformanceTests/converses(_:) inline"}
        {"rule":"des/R22","test":"PatchbayDESTests.QuestionTests/`no message is an error`(answer:)"}
        {"rule":"des/R22","test":"PatchbayDESTests.QuestionTests/`the message of a view is found without regard to case`()"}
        {"rule":"des/R23","test":"PatchbayDESTests.ChangingFactsTests/`a state is kept as it came, whatever a strict reader would say`(body:)"}
        {"rule":"des/R23","test":"PatchbayDESTests.DESConformanceTests/converses(_:) views-and-clicks"}
        {"rule":"des/R23","test":"PatchbayDESTests.StateTests/`a new state replaces the old one as a whole, even an empty one`()"}
        {"rule":"des/R23","test":"PatchbayDESTests.StateTests/`the state goes back as it came, in events and in inline requests`()"}
        {"rule":"des/R23","test":"PatchbayDESTests.StateTests/`the vendor prunes a cancelled campaign, and the client follows`()"}
        {"rule":"des/R24","test":"PatchbayDESTests.ChangingFactsTests/`a complete state in a damaged answer counts`()"}
        {"rule":"des/R24","test":"PatchbayDESTests.ChangingFactsTests/`an answer that cannot be read is reported, and the views are counted with the next`(body:)"}
        {"rule":"des/R24","test":"PatchbayDESTests.StateTests/`an answer without a state leaves it`(body:)"}
        {"rule":"des/R24","test":"PatchbayDESTests.StateTests/`the state in another request's answer is not looked at`()"}
        {"rule":"des/R25","test":"PatchbayDESTests.ChangingFactsTests/`a state is kept as it came, whatever a strict reader would say`(body:)"}
        {"rule":"des/R25","test":"PatchbayDESTests.ChangingFactsTests/`an answer that cannot be read is reported, and the views are counted with the next`(body:)"}
        {"rule":"des/R25","test":"PatchbayDESTests.DESConformanceTests/converses(_:) inline"}
        {"rule":"des/R25","test":"PatchbayDESTests.DESConformanceTests/converses(_:) inline-in-the-pause"}
        {"rule":"des/R25","test":"PatchbayDESTests.DESConformanceTests/converses(_:) views-and-clicks"}
        {"rule":"des/R25","test":"PatchbayDESTests.RenewalTests/`an inline request in the pause takes the clicks, and the repeat does not bring them again`()"}
        {"rule":"des/R25","test":"PatchbayDESTests.StateTests/`after a failure the same views and clicks go with the next request`(failure:)"}
        {"rule":"des/R25","test":"PatchbayDESTests.StateTests/`an inline request takes the pending clicks along once, and no views`()"}
        {"rule":"des/R25","test":"PatchbayDESTests.StateTests/`each view and click is sent once, one by one in its order`()"}
        {"rule":"des/R25","test":"PatchbayDESTests.StateTests/`what is recorded while a request is in flight stays`()"}
        {"rule":"des/R26","test":"PatchbayDESTests.ChangingFactsTests/`the setting says whether a service is v3, not a part of its address`()"}
        {"rule":"des/R26","test":"PatchbayDESTests.DESConformanceTests/converses(_:) old-campaigns"}
        {"rule":"des/R26","test":"PatchbayDESTests.StateTests/`v3 sends everything each time and deletes by oldCampaigns alone`()"}
        {"rule":"des/R26","test":"PatchbayDESTests.StateTests/`v4 ignores oldCampaigns`()"}
        {"rule":"des/R27","test":"PatchbayDESTests.ChangingFactsTests/`a replayed view or click is counted once`(isCountedBefore:)"}
        {"rule":"des/R27","test":"PatchbayDESTests.ChangingFactsTests/`views of refused events wait until their person is there again`()"}
        {"rule":"des/R27","test":"PatchbayDESTests.DESConformanceTests/converses(_:) lost-answer"}
        {"rule":"des/R27","test":"PatchbayDESTests.DESConformanceTests/converses(_:) refused-batch"}
        {"rule":"des/R27","test":"PatchbayDESTests.DESConformanceTests/converses(_:) renewal-refused"}
        {"rule":"des/R27","test":"PatchbayDESTests.RenewalTests/`a renewal that is refused ends the request, and its views stay`()"}
        {"rule":"des/R27","test":"PatchbayDESTests.StateTests/`after a failure the same views and clicks go with the next request`(failure:)"}
        {"rule":"des/R27","test":"PatchbayDESTests.StateTests/`views and clicks outlive the events that are given up`()"}
        {"rule":"des/R28","test":"PatchbayDESTests.DESConformanceTests/converses(_:) inline-in-the-pause"}
        {"rule":"des/R28","test":"PatchbayDESTests.DESConformanceTests/converses(_:) process-dies"}
        {"rule":"des/R28","test":"PatchbayDESTests.StateTests/`what is recorded while a request is in flight stays`()"}
        {"rule":"des/R29","test":"PatchbayDESTests.DESConformanceTests/converses(_:) old-campaigns"}
        {"rule":"des/R29","test":"PatchbayDESTests.DESConformanceTests/converses(_:) views-and-clicks"}
        {"rule":"des/R29","test":"PatchbayDESTests.EventTests/`a view and a click are recorded and reported`()"}
        {"rule":"des/R29","test":"PatchbayDESTests.EventTests/`campaign ids can be numbers, as on the vendor's page`()"}
        {"rule":"des/R29","test":"PatchbayDESTests.StateTests/`v3 sends everything each time and deletes by oldCampaigns alone`()"}
        {"rule":"des/R30","test":"PatchbayDESTests.DESConformanceTests/converses(_:) views-and-clicks"}
        {"rule":"des/R30","test":"PatchbayDESTests.EventTests/`an event has type, name and time, and no empty attributes`()"}
        {"rule":"des/R30","test":"PatchbayDESTests.EventTests/`points in time can follow the vendor's page`()"}
        {"rule":"des/R30","test":"PatchbayDESTests.RefusalTests/`events need a name of their own and plain attributes`()"}
        {"rule":"des/R31","test":"PatchbayDESTests.DESConformanceTests/converses(_:) lost-answer"}
        {"rule":"des/R31","test":"PatchbayDESTests.DESConformanceTests/converses(_:) queue-stops"}
        {"rule":"des/R31","test":"PatchbayDESTests.QueueTests/`a kept request stays at the head and everything stops, without a timer`(failure:)"}
        {"rule":"des/R31","test":"PatchbayDESTests.QueueTests/`a registration that is kept stops the events behind it`()"}
        {"rule":"des/R31","test":"PatchbayDESTests.QueueTests/`a stop ends with what it was for`()"}
        {"rule":"des/R31","test":"PatchbayDESTests.QueueTests/`other refusals end a request, and the queue goes on`(status:)"}
        {"rule":"des/R32","test":"PatchbayDESTests.DESConformanceTests/converses(_:) refused-batch"}
        {"rule":"des/R32","test":"PatchbayDESTests.DESConformanceTests/converses(_:) renewal-refused"}
        {"rule":"des/R32","test":"PatchbayDESTests.QueueTests/`merged events share their end`()"}
        {"rule":"des/R32","test":"PatchbayDESTests.StateTests/`views and clicks outlive the events that are given up`()"}
        {"rule":"des/R33","test":"PatchbayDESTests.ChangingFactsTests/`a click captured before the repeat after a renewal goes with the question that follows`()"}
        {"rule":"des/R33","test":"PatchbayDESTests.ChangingFactsTests/`a refused ID token is replaced before the refusal is final`()"}
        {"rule":"des/R33","test":"PatchbayDESTests.ChangingFactsTests/`an opt-out is carried out although the vendor no longer takes or renews the contact token`()"}
        {"rule":"des/R33","test":"PatchbayDESTests.DESConformanceTests/converses(_:) inline-in-the-pause"}
        {"rule":"des/R33","test":"PatchbayDESTests.DESConformanceTests/converses(_:) renewal-lost"}
        {"rule":"des/R33","test":"PatchbayDESTests.DESConformanceTests/converses(_:) renewal-refused"}
        {"rule":"des/R33","test":"PatchbayDESTests.DESConformanceTests/converses(_:) three-renewals"}
        {"rule":"des/R33","test":"PatchbayDESTests.DESConformanceTests/converses(_:) token-renewed"}
        {"rule":"des/R33","test":"PatchbayDESTests.DESConformanceTests/converses(_:) token-too-old"}
        {"rule":"des/R33","test":"PatchbayDESTests.RenewalTests/`401: renewed, and half a second later the same body again`()"}
        {"rule":"des/R33","test":"PatchbayDESTests.RenewalTests/`a crash in the pause forgets nothing`()"}
        {"rule":"des/R33","test":"PatchbayDESTests.RenewalTests/`a renewal that is lost keeps the request`(failure:)"}
        {"rule":"des/R33","test":"PatchbayDESTests.RenewalTests/`a renewal that is refused ends the request, and its views stay`()"}
        {"rule":"des/R33","test":"PatchbayDESTests.RenewalTests/`a repeat that fails otherwise is made anew`()"}
        {"rule":"des/R33","test":"PatchbayDESTests.RenewalTests/`an inline request in the pause takes the clicks, and the repeat does not bring them again`()"}
        {"rule":"des/R33","test":"PatchbayDESTests.RenewalTests/`every request of a client is renewed`(action:)"}
        {"rule":"des/R33","test":"PatchbayDESTests.RenewalTests/`the repeat after the third renewal may succeed`()"}
        {"rule":"des/R33","test":"PatchbayDESTests.RenewalTests/`three renewals, then no more`()"}
        {"rule":"des/R33","test":"PatchbayDESTests.RenewalTests/`what is captured meanwhile does not enter the repeated body`()"}
        {"rule":"des/R33","test":"PatchbayDESTests.RenewalTests/`without a refresh token 401 is a refusal like others`()"}
        {"rule":"des/R34","test":"PatchbayDESTests.DESConformanceTests/converses(_:) before-the-registration"}
        {"rule":"des/R34","test":"PatchbayDESTests.DESConformanceTests/converses(_:) change-of-contact"}
        {"rule":"des/R34","test":"PatchbayDESTests.DESConformanceTests/converses(_:) queue-stops"}
        {"rule":"des/R34","test":"PatchbayDESTests.QueueTests/`events that wait leave together, other requests keep their places`()"}
        {"rule":"des/R35","test":"PatchbayDESTests.DESConformanceTests/converses(_:) before-the-registration"}
        {"rule":"des/R35","test":"PatchbayDESTests.DESConformanceTests/converses(_:) change-of-contact"}
        {"rule":"des/R35","test":"PatchbayDESTests.DESConformanceTests/converses(_:) new-application"}
        {"rule":"des/R35","test":"PatchbayDESTests.InstallationTests/`a new application code leaves the old one, then begins anew`(keepsState:)"}
        {"rule":"des/R35","test":"PatchbayDESTests.QueueTests/`events are never merged past a change of contact`()"}
        {"rule":"des/R36","test":"PatchbayDESTests.DESConformanceTests/converses(_:) lost-answer"}
        {"rule":"des/R36","test":"PatchbayDESTests.DESConformanceTests/converses(_:) process-dies"}
        {"rule":"des/R36","test":"PatchbayDESTests.DESConformanceTests/converses(_:) token-renewed"}
        {"rule":"des/R36","test":"PatchbayDESTests.QueueTests/`a kept request stays at the head and everything stops, without a timer`(failure:)"}
        {"rule":"des/R36","test":"PatchbayDESTests.QueueTests/`headers and batch are made anew at each attempt`()"}
        {"rule":"des/R36","test":"PatchbayDESTests.RenewalTests/`a repeat that fails otherwise is made anew`()"}
        {"rule":"des/R36","test":"PatchbayDESTests.RenewalTests/`what is captured meanwhile does not enter the repeated body`()"}
        {"rule":"des/R37","test":"PatchbayDESTests.DESConformanceTests/converses(_:) lost-answer"}
        {"rule":"des/R37","test":"PatchbayDESTests.DESConformanceTests/converses(_:) renewal-lost"}
        {"rule":"des/R37","test":"PatchbayDESTests.QuestionTests/`a question without an answer ends`(failure:)"}
        {"rule":"des/R37","test":"PatchbayDESTests.QueueTests/`a kept request stays at the head and everything stops, without a timer`(failure:)"}
        {"rule":"des/R38","test":"PatchbayDESTests.DESConformanceTests/converses(_:) inline"}
        {"rule":"des/R38","test":"PatchbayDESTests.DESConformanceTests/converses(_:) queue-stops"}
        {"rule":"des/R38","test":"PatchbayDESTests.DESConformanceTests/converses(_:) token-too-old"}
        {"rule":"des/R38","test":"PatchbayDESTests.QuestionTests/`a question without an answer ends`(failure:)"}
        {"rule":"des/R38","test":"PatchbayDESTests.QuestionTests/`bad questions are refused before anything is sent`()"}
        {"rule":"des/R38","test":"PatchbayDESTests.QueueTests/`a question passes a stopped queue, and is not repeated`()"}
        {"rule":"des/R39","test":"PatchbayDESTests.ChangingFactsTests/`a half-complete registration begins again at another application`()"}
        {"rule":"des/R39","test":"PatchbayDESTests.DESConformanceTests/converses(_:) application-changed"}
        {"rule":"des/R39","test":"PatchbayDESTests.DESConformanceTests/converses(_:) new-application"}
        {"rule":"des/R39","test":"PatchbayDESTests.InstallationTests/`a new application code leaves the old one, then begins anew`(keepsState:)"}
        {"rule":"des/R40","test":"PatchbayDESTests.DESConformanceTests/converses(_:) actions"}
        {"rule":"des/R40","test":"PatchbayDESTests.EventTests/`a message in an answer goes to the app, one without HTML does not`()"}
        {"rule":"des/R40","test":"PatchbayDESTests.QuestionTests/`the inbox leaves out what lacks something`()"}
        {"rule":"des/R41","test":"PatchbayDESTests.DESConformanceTests/converses(_:) sign-in-page"}
        {"rule":"des/T1","test":"PatchbayDESTests.EventTests/`attributes become texts`(row:)"}
        {"rule":"des/T2","test":"PatchbayDESTests.RefusalTests/`events need a name of their own and plain attributes`()"}
        {"rule":"des/T3","test":"PatchbayDESTests.RefusalTests/`events need a name of their own and plain attributes`()"}
        {"rule":"des/T4","test":"PatchbayDESTests.ConfigurationTests/`the example's settings make an adapter that asks the hosts it names`()"}
        {"rule":"des/T4","test":"PatchbayDESTests.DESConformanceTests/converses(_:) configuration-from-afar"}
        {"rule":"des/T4","test":"PatchbayDESTests.QuestionTests/`a configuration from afar switches v4 off and moves services`()"}
        {"rule":"des/T4","test":"PatchbayDESTests.QuestionTests/`only the vendor's own hosts count`(row:)"}
        {"rule":"des/T4","test":"PatchbayDESTests.RefusalTests/`all mistakes of a configuration are told at once`()"}
        {"rule":"des/T5","test":"PatchbayDESTests.QueueTests/`a host that is not found keeps or ends the request`()"}
        {"rule":"des/T5","test":"PatchbayDESTests.RefusalTests/`all mistakes of a configuration are told at once`()"}
        {"rule":"des/U1","test":"PatchbayDESTests.RefusalTests/`what has no place is refused with a remedy`()"}
        {"rule":"des/U2","test":"PatchbayDESTests.RefusalTests/`what has no place is refused with a remedy`()"}
        {"rule":"des/U3","test":"PatchbayDESTests.RefusalTests/`what has no place is refused with a remedy`()"}
        {"rule":"des/U4","test":"PatchbayDESTests.RefusalTests/`what has no place is refused with a remedy`()"}
        {"rule":"des/U5","test":"PatchbayDESTests.RefusalTests/`pushes without an id, and those of others`()"}
        {"rule":"des/U6","test":"PatchbayDESTests.RefusalTests/`one kind of identifier names contacts`()"}
        {"rule":"salesforce/A1","test":"PatchbaySalesforceTests.AttributeTests/`a blank name is refused`(_:)"}
        {"rule":"salesforce/A1","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) reserved-words"}
        {"rule":"salesforce/A2","test":"PatchbaySalesforceTests.AttributeTests/`names and values are trimmed, pairs sorted`()"}
        {"rule":"salesforce/A3","test":"PatchbaySalesforceTests.AttributeTests/`all 47 reserved words are refused in any case, and nothing else`()"}
        {"rule":"salesforce/A3","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) reserved-words"}
        {"rule":"salesforce/A3","test":"PatchbaySalesforceTests.HostileTests/`of many pairs only the reserved ones are left behind`()"}
        {"rule":"salesforce/A4","test":"PatchbaySalesforceTests.AttributeTests/`a name has at most 128 UTF-16 units`()"}
        {"rule":"salesforce/A5","test":"PatchbaySalesforceTests.AttributeTests/`unset empties the attribute or stops sending it`(setting:pairs:)"}
        {"rule":"salesforce/A5","test":"PatchbaySalesforceTests.HostileTests/`null is no value`()"}
        {"rule":"salesforce/A6","test":"PatchbaySalesforceTests.AttributeTests/`names and values are trimmed, pairs sorted`()"}
        {"rule":"salesforce/A7","test":"PatchbaySalesforceTests.AttributeTests/`unset empties the attribute or stops sending it`(setting:pairs:)"}
        {"rule":"salesforce/A7","test":"PatchbaySalesforceTests.LifeTests/`settings are trimmed`()"}
        {"rule":"salesforce/A9","test":"PatchbaySalesforceTests.AttributeTests/`an attribute that the account does not define stays out`()"}
        {"rule":"salesforce/A9","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) undefined-attributes"}
        {"rule":"salesforce/A10","test":"PatchbaySalesforceTests.AttributeTests/`nothing is added at the vendor`(_:)"}
        {"rule":"salesforce/A11","test":"PatchbaySalesforceTests.AttributeTests/`unset empties the attribute or stops sending it`(setting:pairs:)"}
        {"rule":"salesforce/A12","test":"PatchbaySalesforceTests.PersonTests/`a setting keeps attributes as the vendor's SDK does, and the finding names them`()"}
        {"rule":"salesforce/A13","test":"PatchbaySalesforceTests.AttributeTests/`bad pairs are left out and the rest goes`()"}
        {"rule":"salesforce/A13","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) reserved-words"}
        {"rule":"salesforce/A13","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) undefined-attributes"}
        {"rule":"salesforce/A13","test":"PatchbaySalesforceTests.HostileTests/`of many pairs only the reserved ones are left behind`()"}
        {"rule":"salesforce/A14","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) after-log-out"}
        {"rule":"salesforce/A14","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) lost-reply-hand-over"}
        {"rule":"salesforce/A14","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) orphans"}
        {"rule":"salesforce/A14","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) two-people-offline"}
        {"rule":"salesforce/A14","test":"PatchbaySalesforceTests.IdentityTests/`a log-in says what happens to attributes of the person before`()"}
        {"rule":"salesforce/A14","test":"PatchbaySalesforceTests.PersonTests/`a lost reply does not mix two people`()"}
        {"rule":"salesforce/A14","test":"PatchbaySalesforceTests.PersonTests/`a tag that a log-out cleared before it was sent is not called unchanged`()"}
        {"rule":"salesforce/A14","test":"PatchbaySalesforceTests.PersonTests/`the next contact gets nothing of the person before, and the finding names it`(_:)"}
        {"rule":"salesforce/A14","test":"PatchbaySalesforceTests.PersonTests/`work of two people that waited offline is kept apart`()"}
        {"rule":"salesforce/D1","test":"PatchbaySalesforceTests.LifeTests/`reading is refused, and a consent is applied here`()"}
        {"rule":"salesforce/D2","test":"PatchbaySalesforceTests.LifeTests/`a device that was never registered is not registered to leave`()"}
        {"rule":"salesforce/D2","test":"PatchbaySalesforceTests.LifeTests/`a device that was refused without uncertain delivery is not registered to leave`()"}
        {"rule":"salesforce/D2","test":"PatchbaySalesforceTests.LifeTests/`an unregister is one last registration without push`()"}
        {"rule":"salesforce/D2","test":"PatchbaySalesforceTests.PersonTests/`a device that may have been registered is unregistered`(_:)"}
        {"rule":"salesforce/D2","test":"PatchbaySalesforceTests.PersonTests/`a vendor that is left while a change of person waits does not keep the device for the earlier person`(_:)"}
        {"rule":"salesforce/D2","test":"PatchbaySalesforceTests.PersonTests/`the unregister names the contact that the vendor knows`()"}
        {"rule":"salesforce/D2","test":"PatchbaySalesforceTests.PushPersonTests/`an unregister after an erasure says that the erasure came before`()"}
        {"rule":"salesforce/D3","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) erased"}
        {"rule":"salesforce/D3","test":"PatchbaySalesforceTests.LifeTests/`an erase empties what a registration can empty`()"}
        {"rule":"salesforce/D3","test":"PatchbaySalesforceTests.LifeTests/`an erase of a device that nobody knows asks for the hand alone`()"}
        {"rule":"salesforce/D3","test":"PatchbaySalesforceTests.SupersedingTests/`what waits when an erasure is captured ends with it and is never sent`()"}
        {"rule":"salesforce/D4","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) no-tracking"}
        {"rule":"salesforce/D4","test":"PatchbaySalesforceTests.LifeTests/`reading is refused, and a consent is applied here`()"}
        {"rule":"salesforce/D5","test":"PatchbaySalesforceTests.TagTests/`a topic of push is a tag`()"}
        {"rule":"salesforce/D6","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) hand-over"}
        {"rule":"salesforce/D6","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) two-people-offline"}
        {"rule":"salesforce/D6","test":"PatchbaySalesforceTests.EventTests/`changes that leave the contact hold up no event`()"}
        {"rule":"salesforce/D6","test":"PatchbaySalesforceTests.EventTests/`what another contact did waits until the vendor knows of the hand-over`(_:)"}
        {"rule":"salesforce/D7","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) erased"}
        {"rule":"salesforce/D7","test":"PatchbaySalesforceTests.LifeTests/`a new life after an erase begins at once, as far as the pacing allows`()"}
        {"rule":"salesforce/D8","test":"PatchbaySalesforceTests.PersonTests/`a denial of another channel leaves the registration as it is`()"}
        {"rule":"salesforce/D8","test":"PatchbaySalesforceTests.PersonTests/`while the profile is denied an opt-out is sent and no opt-in`()"}
        {"rule":"salesforce/D9","test":"PatchbaySalesforceTests.PersonTests/`an opt-out before the first registration ends, and that registration says it`()"}
        {"rule":"salesforce/D10","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) each-person-s-push"}
        {"rule":"salesforce/D10","test":"PatchbaySalesforceTests.PushPersonTests/`an opt-out without a known person is the next person's`()"}
        {"rule":"salesforce/D10","test":"PatchbaySalesforceTests.PushPersonTests/`each person's last statement about push counts when the person comes back`(_:)"}
        {"rule":"salesforce/D11","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) consent-to-messages"}
        {"rule":"salesforce/D11","test":"PatchbaySalesforceTests.PushPersonTests/`a registration has push disabled until the person allows messages`(_:)"}
        {"rule":"salesforce/D11","test":"PatchbaySalesforceTests.PushPersonTests/`push stays off under the contact key of a person who denied messages and has left`(_:)"}
        {"rule":"salesforce/D11","test":"PatchbaySalesforceTests.PushPersonTests/`the next person is not reached before that person's answer`()"}
        {"rule":"salesforce/E1","test":"PatchbaySalesforceTests.EventTests/`an event stands in its envelope`()"}
        {"rule":"salesforce/E2","test":"PatchbaySalesforceTests.EventTests/`a bad name is refused`(_:)"}
        {"rule":"salesforce/E3","test":"PatchbaySalesforceTests.EventTests/`bad attributes are left out and the event goes`()"}
        {"rule":"salesforce/E4","test":"PatchbaySalesforceTests.EventTests/`bad attributes are left out and the event goes`()"}
        {"rule":"salesforce/E5","test":"PatchbaySalesforceTests.EventTests/`bad attributes are left out and the event goes`()"}
        {"rule":"salesforce/E6","test":"PatchbaySalesforceTests.EventTests/`an accepted event needs a definition`()"}
        {"rule":"salesforce/E9","test":"PatchbaySalesforceTests.EventTests/`a push of its own is refused, another vendor's is foreign`()"}
        {"rule":"salesforce/E10","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) subscriber-token"}
        {"rule":"salesforce/E10","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) until-the-key"}
        {"rule":"salesforce/E10","test":"PatchbaySalesforceTests.EventTests/`events wait for the subscriber token`()"}
        {"rule":"salesforce/E11","test":"PatchbaySalesforceTests.EventTests/`a request carries at most 1000 events`()"}
        {"rule":"salesforce/E11","test":"PatchbaySalesforceTests.EventTests/`an event stands in its envelope`()"}
        {"rule":"salesforce/E12","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) hand-over"}
        {"rule":"salesforce/E12","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) no-tracking"}
        {"rule":"salesforce/E12","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) retry-after"}
        {"rule":"salesforce/E12","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) subscriber-token"}
        {"rule":"salesforce/E12","test":"PatchbaySalesforceTests.EventTests/`a failed event is kept and delayed, with the same id`()"}
        {"rule":"salesforce/E12","test":"PatchbaySalesforceTests.EventTests/`an accepted event needs a definition`()"}
        {"rule":"salesforce/E13","test":"PatchbaySalesforceTests.EventTests/`an event stands in its envelope`()"}
        {"rule":"salesforce/E14","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) subscriber-token"}
        {"rule":"salesforce/E14","test":"PatchbaySalesforceTests.EventTests/`a change that leaves anyway renews the token`()"}
        {"rule":"salesforce/E14","test":"PatchbaySalesforceTests.EventTests/`a refused subscriber token is renewed by the registration, and the event goes`(_:)"}
        {"rule":"salesforce/E14","test":"PatchbaySalesforceTests.EventTests/`a renewal keeps the vendor's pace, and is given up where no token comes`()"}
        {"rule":"salesforce/E14","test":"PatchbaySalesforceTests.EventTests/`a setting keeps a refused token`()"}
        {"rule":"salesforce/E15","test":"PatchbaySalesforceTests.EventTests/`other events are refused with a remedy`(_:)"}
        {"rule":"salesforce/F1","test":"PatchbaySalesforceTests.RecordTests/`dialects read alike`(text:settings:)"}
        {"rule":"salesforce/F2","test":"PatchbaySalesforceTests.RecordTests/`a bad row is a record with its bytes and every reason`()"}
        {"rule":"salesforce/F2","test":"PatchbaySalesforceTests.RecordTests/`dialects read alike`(text:settings:)"}
        {"rule":"salesforce/F3","test":"PatchbaySalesforceTests.RecordTests/`a header that can't be used is refused`(text:code:)"}
        {"rule":"salesforce/F3","test":"PatchbaySalesforceTests.RecordTests/`a type of an attribute without a column is told once, and so is a column without a name`()"}
        {"rule":"salesforce/F3","test":"PatchbaySalesforceTests.RecordTests/`an export without a header line is read by the names that the settings give`()"}
        {"rule":"salesforce/F3","test":"PatchbaySalesforceTests.RecordTests/`dialects read alike`(text:settings:)"}
        {"rule":"salesforce/F4","test":"PatchbaySalesforceTests.RecordTests/`a file without data is refused`(text:code:)"}
        {"rule":"salesforce/F5","test":"PatchbaySalesforceTests.RecordTests/`a bad row is a record with its bytes and every reason`()"}
        {"rule":"salesforce/F6","test":"PatchbaySalesforceTests.RecordTests/`a bad row is a record with its bytes and every reason`()"}
        {"rule":"salesforce/F6","test":"PatchbaySalesforceTests.RecordTests/`types and columns are settings`()"}
        {"rule":"salesforce/F7","test":"PatchbaySalesforceTests.RecordTests/`a bad row is a record with its bytes and every reason`()"}
        {"rule":"salesforce/F7","test":"PatchbaySalesforceTests.RecordTests/`types and columns are settings`()"}
        {"rule":"salesforce/F8","test":"PatchbaySalesforceTests.RecordTests/`a bad row is a record with its bytes and every reason`()"}
        {"rule":"salesforce/F9","test":"PatchbaySalesforceTests.RecordTests/`a column that settings name as a subscription is read by the usual answers`()"}
        {"rule":"salesforce/F9","test":"PatchbaySalesforceTests.RecordTests/`a push view is read under both spellings, and its opt-out status counts without a date`(_:)"}
        {"rule":"salesforce/F9","test":"PatchbaySalesforceTests.RecordTests/`a status that says unsubscribed is a no to all messages`(_:_:)"}
        {"rule":"salesforce/F9","test":"PatchbaySalesforceTests.RecordTests/`the newer of two dates decides`(_:)"}
        {"rule":"salesforce/F10","test":"PatchbaySalesforceTests.RecordTests/`a device that is written to columns of its own comes back`()"}
        {"rule":"salesforce/F10","test":"PatchbaySalesforceTests.RecordTests/`push columns make a device`()"}
        {"rule":"salesforce/F10","test":"PatchbaySalesforceTests.RecordTests/`what a row says of a device and its app has a place, and what it does not say is no fact`()"}
        {"rule":"salesforce/F11","test":"PatchbaySalesforceTests.RecordTests/`the mobile import takes digits, and a no by its word`()"}
        {"rule":"salesforce/F12","test":"PatchbaySalesforceTests.RecordTests/`the mobile import takes digits, and a no by its word`()"}
        {"rule":"salesforce/F13","test":"PatchbaySalesforceTests.RecordTests/`the mobile import takes digits, and a no by its word`()"}
        {"rule":"salesforce/F14","test":"PatchbaySalesforceTests.RecordTests/`a no without a column keeps the contact out, whichever no it is`(_:)"}
        {"rule":"salesforce/F14","test":"PatchbaySalesforceTests.RecordTests/`the mobile import takes digits, and a no by its word`()"}
        {"rule":"salesforce/F15","test":"PatchbaySalesforceTests.RecordTests/`a bad row of JSON costs itself alone, and keeps its bytes`(_:)"}
        {"rule":"salesforce/F15","test":"PatchbaySalesforceTests.RecordTests/`a list that does not end, or ends for nothing, is no whole file`(_:)"}
        {"rule":"salesforce/F15","test":"PatchbaySalesforceTests.RecordTests/`members that settings name for what a person allows stand in every row`()"}
        {"rule":"salesforce/F15","test":"PatchbaySalesforceTests.RecordTests/`rows of JSON are a list, a list of items, or objects one behind another`(_:_:)"}
        {"rule":"salesforce/K1","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) reserved-words"}
        {"rule":"salesforce/K1","test":"PatchbaySalesforceTests.IdentityTests/`a blank contact key is refused and the old one stays`(_:)"}
        {"rule":"salesforce/K1","test":"PatchbaySalesforceTests.RecordTests/`a bad row is a record with its bytes and every reason`()"}
        {"rule":"salesforce/K1","test":"PatchbaySalesforceTests.RecordTests/`who has no contact key is known by the address, unless a setting names the key`()"}
        {"rule":"salesforce/K2","test":"PatchbaySalesforceTests.IdentityTests/`a contact key is trimmed`()"}
        {"rule":"salesforce/K3","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) after-log-out"}
        {"rule":"salesforce/K3","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) reserved-words"}
        {"rule":"salesforce/K3","test":"PatchbaySalesforceTests.IdentityTests/`a log-out can't clear the contact key`()"}
        {"rule":"salesforce/K3","test":"PatchbaySalesforceTests.PersonTests/`what is captured after a log-out waits for the next contact, an opt-out does not`()"}
        {"rule":"salesforce/K4","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) orphans"}
        {"rule":"salesforce/K4","test":"PatchbaySalesforceTests.IdentityTests/`a placeholder is warned about`(_:)"}
        {"rule":"salesforce/K5","test":"PatchbaySalesforceTests.IdentityTests/`a setting names the kind of identifier`()"}
        {"rule":"salesforce/K6","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) first-hour"}
        {"rule":"salesforce/K6","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) first-launch"}
        {"rule":"salesforce/K6","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) orphans"}
        {"rule":"salesforce/K6","test":"PatchbaySalesforceTests.IdentityTests/`without a contact key the registration leaves it out`()"}
        {"rule":"salesforce/K6","test":"PatchbaySalesforceTests.OrphanTests/`without delay the first registration may make a contact, and the key that follows orphans it`()"}
        {"rule":"salesforce/K7","test":"PatchbaySalesforceTests.OrphanTests/`a changed key is said, letter by letter`(_:)"}
        {"rule":"salesforce/K7","test":"PatchbaySalesforceTests.OrphanTests/`keys that look alike and are written differently are different`()"}
        {"rule":"salesforce/K8","test":"PatchbaySalesforceTests.IdentityTests/`a long key is uncertain, and its text is not shown`()"}
        {"rule":"salesforce/K9","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) orphans"}
        {"rule":"salesforce/K9","test":"PatchbaySalesforceTests.OrphanTests/`a changed key is said, letter by letter`(_:)"}
        {"rule":"salesforce/K10","test":"PatchbaySalesforceTests.IdentityTests/`the signed string is set, kept by a blank, removed by null`()"}
        {"rule":"salesforce/K11","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) hand-over"}
        {"rule":"salesforce/K11","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) orphans"}
        {"rule":"salesforce/K11","test":"PatchbaySalesforceTests.OrphanTests/`several people on one device are told of`()"}
        {"rule":"salesforce/K12","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) first-launch"}
        {"rule":"salesforce/K12","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) orphans"}
        {"rule":"salesforce/K12","test":"PatchbaySalesforceTests.OrphanTests/`a changed key is said, letter by letter`(_:)"}
        {"rule":"salesforce/K12","test":"PatchbaySalesforceTests.OrphanTests/`several people on one device are told of`()"}
        {"rule":"salesforce/K12","test":"PatchbaySalesforceTests.OrphanTests/`without delay the first registration may make a contact, and the key that follows orphans it`()"}
        {"rule":"salesforce/R1","test":"PatchbaySalesforceTests.LifeTests/`any 2xx is a yes`(_:)"}
        {"rule":"salesforce/R2","test":"PatchbaySalesforceTests.ScheduleTests/`Retry-After beats the delay and is capped`(seconds:due:)"}
        {"rule":"salesforce/R3","test":"PatchbaySalesforceTests.ScheduleTests/`a person who asks why it waits hears of the refused token`()"}
        {"rule":"salesforce/R4","test":"PatchbaySalesforceTests.ScheduleTests/`delays double from a minute to a day and go on for ever`()"}
        {"rule":"salesforce/R5","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) long-outage"}
        {"rule":"salesforce/R5","test":"PatchbaySalesforceTests.ScheduleTests/`after uncertain delivery nothing is suppressed`(_:)"}
        {"rule":"salesforce/R6","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) interrupted"}
        {"rule":"salesforce/R6","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) lost-answer"}
        {"rule":"salesforce/R6","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) lost-reply-hand-over"}
        {"rule":"salesforce/R6","test":"PatchbaySalesforceTests.ScheduleTests/`delays, spacing and knowledge survive a restart`()"}
        {"rule":"salesforce/R7","test":"PatchbaySalesforceTests.CallbackTests/`a failure hands over nothing, the success after it does`(_:)"}
        {"rule":"salesforce/R7","test":"PatchbaySalesforceTests.CallbackTests/`the app's signed string is not handed on`()"}
        {"rule":"salesforce/R7","test":"PatchbaySalesforceTests.CallbackTests/`whoever waits for a change is handed the registration as it was sent`()"}
        {"rule":"salesforce/R8","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) sign-in-page"}
        {"rule":"salesforce/S1","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) first-hour"}
        {"rule":"salesforce/S1","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) first-launch"}
        {"rule":"salesforce/S1","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) until-the-key"}
        {"rule":"salesforce/S1","test":"PatchbaySalesforceTests.LifeTests/`a new life after an erase begins at once, as far as the pacing allows`()"}
        {"rule":"salesforce/S1","test":"PatchbaySalesforceTests.ScheduleTests/`the first registration leaves at once`()"}
        {"rule":"salesforce/S2","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) a-minute-apart"}
        {"rule":"salesforce/S2","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) first-hour"}
        {"rule":"salesforce/S2","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) one-window"}
        {"rule":"salesforce/S2","test":"PatchbaySalesforceTests.ScheduleTests/`changes are gathered for a minute from the first one`()"}
        {"rule":"salesforce/S3","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) a-minute-apart"}
        {"rule":"salesforce/S3","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) erased"}
        {"rule":"salesforce/S3","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) first-hour"}
        {"rule":"salesforce/S3","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) interrupted"}
        {"rule":"salesforce/S3","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) no-tracking"}
        {"rule":"salesforce/S3","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) one-window"}
        {"rule":"salesforce/S3","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) restarts"}
        {"rule":"salesforce/S3","test":"PatchbaySalesforceTests.LifeTests/`a new life after an erase begins at once, as far as the pacing allows`()"}
        {"rule":"salesforce/S3","test":"PatchbaySalesforceTests.ScheduleTests/`a flush skips the gathering and not the spacing`(change:due:)"}
        {"rule":"salesforce/S3","test":"PatchbaySalesforceTests.ScheduleTests/`changes are gathered for a minute from the first one`()"}
        {"rule":"salesforce/S4","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) one-window"}
        {"rule":"salesforce/S4","test":"PatchbaySalesforceTests.ScheduleTests/`changes are gathered for a minute from the first one`()"}
        {"rule":"salesforce/S5","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) background-starts"}
        {"rule":"salesforce/S5","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) first-hour"}
        {"rule":"salesforce/S5","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) system-facts"}
        {"rule":"salesforce/S5","test":"PatchbaySalesforceTests.ScheduleTests/`a new version of the sender causes a registration at the next start`()"}
        {"rule":"salesforce/S5","test":"PatchbaySalesforceTests.ScheduleTests/`changes are gathered for a minute from the first one`()"}
        {"rule":"salesforce/S5","test":"PatchbaySalesforceTests.ScheduleTests/`every sort of change causes a registration`(_:)"}
        {"rule":"salesforce/S5","test":"PatchbaySalesforceTests.ScheduleTests/`everything that a device says of itself causes a registration, and nothing else`(_:)"}
        {"rule":"salesforce/S6","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) nothing-changed"}
        {"rule":"salesforce/S6","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) system-facts"}
        {"rule":"salesforce/S6","test":"PatchbaySalesforceTests.ScheduleTests/`a tag added and removed while the first request waits sends nothing`()"}
        {"rule":"salesforce/S6","test":"PatchbaySalesforceTests.ScheduleTests/`what changes nothing is settled without a request`(_:)"}
        {"rule":"salesforce/S6","test":"PatchbaySalesforceTests.ScheduleTests/`what shows nowhere yet is remembered: a yes counts once the device permits it`()"}
        {"rule":"salesforce/S6","test":"PatchbaySalesforceTests.WireTests/`what changes by itself is no change`()"}
        {"rule":"salesforce/S7","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) change-in-an-outage"}
        {"rule":"salesforce/S7","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) interrupted"}
        {"rule":"salesforce/S7","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) long-outage"}
        {"rule":"salesforce/S7","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) lost-answer"}
        {"rule":"salesforce/S7","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) restarts"}
        {"rule":"salesforce/S7","test":"PatchbaySalesforceTests.ScheduleTests/`delays double from a minute to a day and go on for ever`()"}
        {"rule":"salesforce/S8","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) change-in-an-outage"}
        {"rule":"salesforce/S8","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) first-hour"}
        {"rule":"salesforce/S8","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) long-outage"}
        {"rule":"salesforce/S8","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) restarts"}
        {"rule":"salesforce/S8","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) two-people-offline"}
        {"rule":"salesforce/S8","test":"PatchbaySalesforceTests.EventTests/`a failed event is kept and delayed, with the same id`()"}
        {"rule":"salesforce/S8","test":"PatchbaySalesforceTests.ScheduleTests/`delays double from a minute to a day and go on for ever`()"}
        {"rule":"salesforce/S9","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) change-in-an-outage"}
        {"rule":"salesforce/S9","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) first-hour"}
        {"rule":"salesforce/S9","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) lost-answer"}
        {"rule":"salesforce/S9","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) retry-after"}
        {"rule":"salesforce/S9","test":"PatchbaySalesforceTests.ScheduleTests/`a new change does not shorten the delays`()"}
        {"rule":"salesforce/S9","test":"PatchbaySalesforceTests.ScheduleTests/`success starts the delays again`()"}
        {"rule":"salesforce/S10","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) interrupted"}
        {"rule":"salesforce/S10","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) restarts"}
        {"rule":"salesforce/S10","test":"PatchbaySalesforceTests.ScheduleTests/`delays, spacing and knowledge survive a restart`()"}
        {"rule":"salesforce/S11","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) first-hour"}
        {"rule":"salesforce/S11","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) retry-after"}
        {"rule":"salesforce/S11","test":"PatchbaySalesforceTests.EventTests/`Retry-After closes one endpoint, not the other`()"}
        {"rule":"salesforce/S11","test":"PatchbaySalesforceTests.ScheduleTests/`Retry-After beats the delay and is capped`(seconds:due:)"}
        {"rule":"salesforce/S11","test":"PatchbaySalesforceTests.ScheduleTests/`Retry-After of a success holds too`()"}
        {"rule":"salesforce/S11","test":"PatchbaySalesforceTests.ScheduleTests/`delays grow after a long and after a short Retry-After`()"}
        {"rule":"salesforce/S12","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) until-the-key"}
        {"rule":"salesforce/S12","test":"PatchbaySalesforceTests.LifeTests/`settings are trimmed`()"}
        {"rule":"salesforce/S12","test":"PatchbaySalesforceTests.OrphanTests/`with delay nobody is orphaned by the first key`()"}
        {"rule":"salesforce/S12","test":"PatchbaySalesforceTests.PersonTests/`a contact key behind the window is sent with what the window shows`()"}
        {"rule":"salesforce/S12","test":"PatchbaySalesforceTests.ScheduleTests/`in delay mode nothing leaves before the contact key, then at once`()"}
        {"rule":"salesforce/S13","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) first-launch"}
        {"rule":"salesforce/S13","test":"PatchbaySalesforceTests.ScheduleTests/`an accepted change shows later`()"}
        {"rule":"salesforce/S14","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) background-starts"}
        {"rule":"salesforce/S14","test":"PatchbaySalesforceTests.ScheduleTests/`a change in the background is warned about, facts are not`()"}
        {"rule":"salesforce/S14","test":"PatchbaySalesforceTests.ScheduleTests/`a time stamp at every start costs a registration a start`()"}
        {"rule":"salesforce/S15","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) one-window"}
        {"rule":"salesforce/S15","test":"PatchbaySalesforceTests.OrphanTests/`a person who was gone before the registration left was never there`()"}
        {"rule":"salesforce/S15","test":"PatchbaySalesforceTests.SupersedingTests/`the last change is the one that is named`()"}
        {"rule":"salesforce/S15","test":"PatchbaySalesforceTests.SupersedingTests/`what a later change replaces whole is superseded, and what is left says the same`(_:)"}
        {"rule":"salesforce/S16","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) change-in-an-outage"}
        {"rule":"salesforce/S16","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) first-hour"}
        {"rule":"salesforce/S16","test":"PatchbaySalesforceTests.ScheduleTests/`a retry carries what changed in the meantime`()"}
        {"rule":"salesforce/T1","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) reserved-words"}
        {"rule":"salesforce/T1","test":"PatchbaySalesforceTests.TagTests/`a blank tag is refused`(_:)"}
        {"rule":"salesforce/T2","test":"PatchbaySalesforceTests.TagTests/`tags are trimmed and sorted with the automatic ones`()"}
        {"rule":"salesforce/T3","test":"PatchbaySalesforceTests.TagTests/`tags are a set`()"}
        {"rule":"salesforce/T4","test":"PatchbaySalesforceTests.LifeTests/`settings are trimmed`()"}
        {"rule":"salesforce/T4","test":"PatchbaySalesforceTests.TagTests/`the last spelling wins`()"}
        {"rule":"salesforce/T5","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) first-hour"}
        {"rule":"salesforce/T5","test":"PatchbaySalesforceTests.TagTests/`tags are trimmed and sorted with the automatic ones`()"}
        {"rule":"salesforce/T6","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) reserved-words"}
        {"rule":"salesforce/T6","test":"PatchbaySalesforceTests.TagTests/`an automatic tag can be neither added nor removed`(_:)"}
        {"rule":"salesforce/T7","test":"PatchbaySalesforceTests.TagTests/`removing all tags keeps the automatic ones`()"}
        {"rule":"salesforce/T8","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) nothing-changed"}
        {"rule":"salesforce/T8","test":"PatchbaySalesforceTests.TagTests/`removing an absent tag sends nothing`()"}
        {"rule":"salesforce/T11","test":"PatchbaySalesforceTests.TagTests/`tags are trimmed and sorted with the automatic ones`()"}
        {"rule":"salesforce/V1","test":"PatchbaySalesforceTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) first-hour"}
        {"rule":"salesforce/V1","test":"PatchbaySalesforceTests.ServerTests/`a client that is unknown stops, a host that fails is asked again`()"}
        {"rule":"salesforce/V1","test":"PatchbaySalesforceTests.ServerTests/`a token is asked for once for all lanes, and again when it has ended`()"}
        {"rule":"salesforce/V2","test":"PatchbaySalesforceTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) first-hour"}
        {"rule":"salesforce/V2","test":"PatchbaySalesforceTests.ServerTests/`a token is asked for once for all lanes, and again when it has ended`()"}
        {"rule":"salesforce/V3","test":"PatchbaySalesforceTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) refused-token"}
        {"rule":"salesforce/V3","test":"PatchbaySalesforceTests.ServerTests/`after a 401 one fresh token, and after another a person has to act`()"}
        {"rule":"salesforce/V3","test":"PatchbaySalesforceTests.ServerTests/`four requests with the same old token cost one fresh one`()"}
        {"rule":"salesforce/V4","test":"PatchbaySalesforceTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) first-hour"}
        {"rule":"salesforce/V4","test":"PatchbaySalesforceTests.ServerTests/`the REST host is the one that the token's reply names`(_:_:)"}
        {"rule":"salesforce/V5","test":"PatchbaySalesforceTests.ServerTests/`a token is asked for once for all lanes, and again when it has ended`()"}
        {"rule":"salesforce/V6","test":"PatchbaySalesforceTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) job"}
        {"rule":"salesforce/V6","test":"PatchbaySalesforceTests.ServerTests/`a job is handed in, asked for every five seconds, and a later row of its contact waits`()"}
        {"rule":"salesforce/V7","test":"PatchbaySalesforceTests.ServerTests/`settings that do not fit together are all found`()"}
        {"rule":"salesforce/V8","test":"PatchbaySalesforceTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) first-hour"}
        {"rule":"salesforce/V8","test":"PatchbaySalesforceTests.ServerTests/`a row set holds fifty rows of as many contacts`()"}
        {"rule":"salesforce/V9","test":"PatchbaySalesforceTests.ServerTests/`a row set holds fifty rows of as many contacts`()"}
        {"rule":"salesforce/V9","test":"PatchbaySalesforceTests.ServerTests/`contacts whose keys look alike stay two`()"}
        {"rule":"salesforce/V10","test":"PatchbaySalesforceTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) bad-row"}
        {"rule":"salesforce/V10","test":"PatchbaySalesforceTests.ServerTests/`a bad row is found, and every other gets through`(_:)"}
        {"rule":"salesforce/V11","test":"PatchbaySalesforceTests.ServerTests/`a row set holds fifty rows of as many contacts`()"}
        {"rule":"salesforce/V12","test":"PatchbaySalesforceTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) job"}
        {"rule":"salesforce/V12","test":"PatchbaySalesforceTests.ServerTests/`a job is handed in, asked for every five seconds, and a later row of its contact waits`()"}
        {"rule":"salesforce/V13","test":"PatchbaySalesforceTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) job"}
        {"rule":"salesforce/V13","test":"PatchbaySalesforceTests.ServerTests/`a job is handed in, asked for every five seconds, and a later row of its contact waits`()"}
        {"rule":"salesforce/V14","test":"PatchbaySalesforceTests.ServerTests/`what only a person can mend stops, and keeps everything`()"}
        {"rule":"salesforce/V15","test":"PatchbaySalesforceTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) job"}
        {"rule":"salesforce/V15","test":"PatchbaySalesforceTests.ServerTests/`a job is handed in, asked for every five seconds, and a later row of its contact waits`()"}
        {"rule":"salesforce/V16","test":"PatchbaySalesforceTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) job"}
        {"rule":"salesforce/V16","test":"PatchbaySalesforceTests.ServerTests/`a job with errors gives each row its verdict, page by page`()"}
        {"rule":"salesforce/V16","test":"PatchbaySalesforceTests.ServerTests/`results that are not one for each row send the rows again in halves`()"}
        {"rule":"salesforce/V17","test":"PatchbaySalesforceTests.ServerTests/`a job has so many rows and bytes, and a larger row goes alone`()"}
        {"rule":"salesforce/V18","test":"PatchbaySalesforceTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) contact"}
        {"rule":"salesforce/V18","test":"PatchbaySalesforceTests.ServerTests/`a contact is created, and changed where it is there`()"}
        {"rule":"salesforce/V18","test":"PatchbaySalesforceTests.ServerTests/`contacts whose keys look alike stay two`()"}
        {"rule":"salesforce/V19","test":"PatchbaySalesforceTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) contact"}
        {"rule":"salesforce/V19","test":"PatchbaySalesforceTests.ServerTests/`a contact is created, and changed where it is there`()"}
        {"rule":"salesforce/V19","test":"PatchbaySalesforceTests.ServerTests/`an operation that does not say where its contact can be reached bears it as an option`()"}
        {"rule":"salesforce/V19","test":"PatchbaySalesforceTests.ServerTests/`settings that do not fit together are all found`()"}
        {"rule":"salesforce/V19","test":"PatchbaySalesforceTests.ServerTests/`what is left of a contact is told by its sets' attributes`()"}
        {"rule":"salesforce/V20","test":"PatchbaySalesforceTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) contact"}
        {"rule":"salesforce/V20","test":"PatchbaySalesforceTests.ServerTests/`a contact is created, and changed where it is there`()"}
        {"rule":"salesforce/V21","test":"PatchbaySalesforceTests.ServerTests/`a yes that says no inside is no yes`()"}
        {"rule":"salesforce/V22","test":"PatchbaySalesforceTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) contact"}
        {"rule":"salesforce/V22","test":"PatchbaySalesforceTests.ServerTests/`contacts are forgotten together, and only a clear word ends it`()"}
        {"rule":"salesforce/V22","test":"PatchbaySalesforceTests.ServerTests/`contacts whose keys look alike stay two`()"}
        {"rule":"salesforce/V23","test":"PatchbaySalesforceTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) first-hour"}
        {"rule":"salesforce/V23","test":"PatchbaySalesforceTests.ServerTests/`an event leaves once, also where nobody knows what became of it`()"}
        {"rule":"salesforce/V24","test":"PatchbaySalesforceTests.ServerTests/`an event leaves once, also where nobody knows what became of it`()"}
        {"rule":"salesforce/V25","test":"PatchbaySalesforceTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) event-in-uncertainty"}
        {"rule":"salesforce/V25","test":"PatchbaySalesforceTests.ServerTests/`an event leaves once, also where nobody knows what became of it`()"}
        {"rule":"salesforce/V26","test":"PatchbaySalesforceTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) retry-after"}
        {"rule":"salesforce/V26","test":"PatchbaySalesforceTests.ServerTests/`a Retry-After keeps every lane back, over a restart`(_:)"}
        {"rule":"salesforce/V27","test":"PatchbaySalesforceTests.ServerTests/`a vendor that fails is asked less often each time, by all lanes together`()"}
        {"rule":"salesforce/V28","test":"PatchbaySalesforceTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) retry-after"}
        {"rule":"salesforce/V28","test":"PatchbaySalesforceTests.ServerTests/`a client that is unknown stops, a host that fails is asked again`()"}
        {"rule":"salesforce/V28","test":"PatchbaySalesforceTests.ServerTests/`a vendor that fails is asked less often each time, by all lanes together`()"}
        {"rule":"salesforce/V29","test":"PatchbaySalesforceTests.ServerTests/`rows without an answer go again, and replace themselves`()"}
        {"rule":"salesforce/V30","test":"PatchbaySalesforceTests.ServerTests/`what only a person can mend stops, and keeps everything`()"}
        {"rule":"salesforce/V31","test":"PatchbaySalesforceTests.ServerTests/`what only a person can mend stops, and keeps everything`()"}
        {"rule":"salesforce/V32","test":"PatchbaySalesforceTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) bad-row"}
        {"rule":"salesforce/V32","test":"PatchbaySalesforceTests.ServerTests/`requests leave at the vendor's rate, refusals are final, and a web page is no answer`()"}
        {"rule":"salesforce/V33","test":"PatchbaySalesforceTests.ServerTests/`requests leave at the vendor's rate, refusals are final, and a web page is no answer`()"}
        {"rule":"salesforce/V34","test":"PatchbaySalesforceTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) first-hour"}
        {"rule":"salesforce/V34","test":"PatchbaySalesforceTests.ServerTests/`rows are read page by page, while rows wait`()"}
        {"rule":"salesforce/V35","test":"PatchbaySalesforceTests.ServerTests/`what a column can't hold stays out, and the rest goes`()"}
        {"rule":"salesforce/V37","test":"PatchbaySalesforceTests.ServerTests/`a row set holds fifty rows of as many contacts`()"}
        {"rule":"salesforce/V38","test":"PatchbaySalesforceTests.ServerTests/`what a column can't hold stays out, and the rest goes`()"}
        {"rule":"salesforce/V39","test":"PatchbaySalesforceTests.ServerTests/`what a column can't hold stays out, and the rest goes`()"}
        {"rule":"salesforce/V40","test":"PatchbaySalesforceTests.ServerTests/`tags and subscriptions are columns, and unknown is neither yes nor no`()"}
        {"rule":"salesforce/V41","test":"PatchbaySalesforceTests.ServerTests/`tags and subscriptions are columns, and unknown is neither yes nor no`()"}
        {"rule":"salesforce/V42","test":"PatchbaySalesforceTests.ServerTests/`what a column can't hold stays out, and the rest goes`()"}
        {"rule":"salesforce/V42","test":"PatchbaySalesforceTests.ServerTests/`what is left of a contact is told by its sets' attributes`()"}
        {"rule":"salesforce/V43","test":"PatchbaySalesforceTests.ServerConformanceTests/`a conversation at the server API goes as written`(_:) first-hour"}
        {"rule":"salesforce/V43","test":"PatchbaySalesforceTests.ServerTests/`several words of one contact are one row, the last value wins`()"}
        {"rule":"salesforce/V44","test":"PatchbaySalesforceTests.ServerTests/`contacts are forgotten together, and only a clear word ends it`()"}
        {"rule":"salesforce/V45","test":"PatchbaySalesforceTests.ServerTests/`tags and subscriptions are columns, and unknown is neither yes nor no`()"}
        {"rule":"salesforce/V46","test":"PatchbaySalesforceTests.ServerTests/`a job that the vendor forgot goes again, and is given up in the end`()"}
        {"rule":"salesforce/V47","test":"PatchbaySalesforceTests.ServerTests/`rejects a contact whose attribute set is incomplete`()"}
        {"rule":"salesforce/W1","test":"PatchbaySalesforceTests.LifeTests/`settings are trimmed`()"}
        {"rule":"salesforce/W1","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W2","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) adopted"}
        {"rule":"salesforce/W2","test":"PatchbaySalesforceTests.WireTests/`a device id handed over too late makes no second device`()"}
        {"rule":"salesforce/W2","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W2","test":"PatchbaySalesforceTests.WireTests/`an adopted device id stays as it is`()"}
        {"rule":"salesforce/W3","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W3","test":"PatchbaySalesforceTests.WireTests/`the registration's id can be called uuid`()"}
        {"rule":"salesforce/W4","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) system-facts"}
        {"rule":"salesforce/W4","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W4","test":"PatchbaySalesforceTests.WireTests/`what changes by itself is no change`()"}
        {"rule":"salesforce/W5","test":"PatchbaySalesforceTests.IdentityTests/`a contact key is trimmed`()"}
        {"rule":"salesforce/W5","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W6","test":"PatchbaySalesforceTests.PersonTests/`a malformed token does not replace a good one`()"}
        {"rule":"salesforce/W6","test":"PatchbaySalesforceTests.TagTests/`the push subscription is one switch`(state:isOn:hasToken:)"}
        {"rule":"salesforce/W6","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W6","test":"PatchbaySalesforceTests.WireTests/`an unknown token is left out`()"}
        {"rule":"salesforce/W7","test":"PatchbaySalesforceTests.ScheduleTests/`what shows nowhere yet is remembered: a yes counts once the device permits it`()"}
        {"rule":"salesforce/W7","test":"PatchbaySalesforceTests.TagTests/`the push subscription is one switch`(state:isOn:hasToken:)"}
        {"rule":"salesforce/W7","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W8","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W9","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W10","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W11","test":"PatchbaySalesforceTests.FactTests/`a platform is spelt as the vendor spells it`(name:sent:)"}
        {"rule":"salesforce/W11","test":"PatchbaySalesforceTests.FactTests/`another platform is refused before the vendor drops the device`(_:)"}
        {"rule":"salesforce/W11","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W12","test":"PatchbaySalesforceTests.FactTests/`a blank fact is refused where it stands`(_:)"}
        {"rule":"salesforce/W12","test":"PatchbaySalesforceTests.ScheduleTests/`without device facts nothing leaves`()"}
        {"rule":"salesforce/W13","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) system-facts"}
        {"rule":"salesforce/W13","test":"PatchbaySalesforceTests.ScheduleTests/`everything that a device says of itself causes a registration, and nothing else`(_:)"}
        {"rule":"salesforce/W13","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W14","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W15","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) system-facts"}
        {"rule":"salesforce/W15","test":"PatchbaySalesforceTests.ScheduleTests/`everything that a device says of itself causes a registration, and nothing else`(_:)"}
        {"rule":"salesforce/W15","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W16","test":"PatchbaySalesforceTests.ScheduleTests/`a new version of the sender causes a registration at the next start`()"}
        {"rule":"salesforce/W16","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W17","test":"PatchbaySalesforceTests.AttributeTests/`names and values are trimmed, pairs sorted`()"}
        {"rule":"salesforce/W17","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W18","test":"PatchbaySalesforceTests.TagTests/`tags are trimmed and sorted with the automatic ones`()"}
        {"rule":"salesforce/W18","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W19","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) system-facts"}
        {"rule":"salesforce/W19","test":"PatchbaySalesforceTests.FactTests/`an offset in other units is refused`(_:)"}
        {"rule":"salesforce/W19","test":"PatchbaySalesforceTests.PersonTests/`a zone without an offset gives its own at the time of capture`()"}
        {"rule":"salesforce/W19","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W19","test":"PatchbaySalesforceTests.WireTests/`the time zone is seconds as text`(offset:text:)"}
        {"rule":"salesforce/W20","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) system-facts"}
        {"rule":"salesforce/W20","test":"PatchbaySalesforceTests.ScheduleTests/`everything that a device says of itself causes a registration, and nothing else`(_:)"}
        {"rule":"salesforce/W20","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W21","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) system-facts"}
        {"rule":"salesforce/W21","test":"PatchbaySalesforceTests.FactTests/`a locale has underscores and nothing behind its region`(given:sent:isSaid:)"}
        {"rule":"salesforce/W21","test":"PatchbaySalesforceTests.FactTests/`what is no locale is refused`(_:)"}
        {"rule":"salesforce/W21","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W22","test":"PatchbaySalesforceTests.FactTests/`a locale has underscores and nothing behind its region`(given:sent:isSaid:)"}
        {"rule":"salesforce/W22","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W23","test":"PatchbaySalesforceTests.IdentityTests/`the signed string is set, kept by a blank, removed by null`()"}
        {"rule":"salesforce/W24","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W25","test":"PatchbaySalesforceTests.LifeTests/`settings are trimmed`()"}
        {"rule":"salesforce/W25","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W26","test":"PatchbaySalesforceTests.LifeTests/`settings are trimmed`()"}
        {"rule":"salesforce/W26","test":"PatchbaySalesforceTests.WireTests/`a registration is one whole record`()"}
        {"rule":"salesforce/W27","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) first-launch"}
        {"rule":"salesforce/W27","test":"PatchbaySalesforceTests.ConformanceTests/`a conversation goes as written`(_:) subscriber-token"}
        {"rule":"salesforce/W27","test":"PatchbaySalesforceTests.EventTests/`a refused subscriber token is renewed by the registration, and the event goes`(_:)"}
        {"rule":"salesforce/W27","test":"PatchbaySalesforceTests.EventTests/`an event stands in its envelope`()"}
        {"rule":"salesforce/W27","test":"PatchbaySalesforceTests.WireTests/`the newest subscriber token is sent with registrations too`()"}
        """#
}
