import Foundation
import PatchbayCommand

StandardFiles.fillIn()
let status = await Command.run(Array(CommandLine.arguments.dropFirst()))
exit(status)
